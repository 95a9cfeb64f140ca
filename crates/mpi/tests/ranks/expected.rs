//! How each scenario is started, and how it must end.

/// How a scenario is started, and how it must end.
pub struct Expected {
    pub scenario: &'static str,
    pub sizes: &'static [usize],
    /// Options of `mpirun`; `None` starts the process by itself.
    pub starter: Option<&'static [&'static str]>,
    pub variables: &'static [(&'static str, &'static str)],
    /// The first rank that fails decides, so there may be several.
    pub exit_codes: &'static [i32],
    /// Lines that must be said, by the number of ranks.
    pub lines: fn(usize) -> Vec<String>,
}

const UNDER_MPIRUN: Expected = Expected {
    scenario: "",
    sizes: &[2],
    starter: Some(&[]),
    variables: &[],
    exit_codes: &[0],
    lines: all_are_ok,
};

fn all_are_ok(size: usize) -> Vec<String> {
    all_say(size, "ok")
}

fn all_say(size: usize, told: &str) -> Vec<String> {
    (0..size).map(|rank| format!("rank {rank}: {told}")).collect()
}

/// Every scenario. A failed rank ends with the code 3, and `mpirun` with that of a failed rank.
pub const EXPECTED: &[Expected] = &[
    Expected { scenario: "collectives", sizes: &[1, 2, 3, 4], ..UNDER_MPIRUN },
    Expected { scenario: "collectives", sizes: &[1], starter: None, ..UNDER_MPIRUN },
    Expected {
        scenario: "collectives",
        sizes: &[1],
        starter: None,
        variables: &[("PMI_SIZE", "2")],
        exit_codes: &[3],
        lines: |_| {
            vec![
                "no rank: messages cannot be exchanged: 2 processes were started, but the MPI \
                 library of this program finds only one; start it with the mpirun of the MPI that \
                 it was built with"
                    .to_owned(),
            ]
        },
    },
    Expected { scenario: "messages_in_order", sizes: &[2, 3], ..UNDER_MPIRUN },
    // Over TCP, a short message is complete before a long one that was sent earlier.
    Expected {
        scenario: "messages_in_order",
        sizes: &[2],
        starter: Some(&["--mca", "btl", "tcp,self"]),
        ..UNDER_MPIRUN
    },
    Expected { scenario: "messages_longer_than_a_packet", sizes: &[2], ..UNDER_MPIRUN },
    Expected { scenario: "messages_of_several_threads", sizes: &[3], ..UNDER_MPIRUN },
    Expected { scenario: "messages_that_cannot_be_sent", sizes: &[2], ..UNDER_MPIRUN },
    Expected { scenario: "idle_ranks", sizes: &[2], ..UNDER_MPIRUN },
    Expected { scenario: "rank_that_only_computes", sizes: &[3], ..UNDER_MPIRUN },
    Expected { scenario: "rank_that_works_longer", sizes: &[3], ..UNDER_MPIRUN },
    Expected {
        scenario: "rank_that_aborts",
        sizes: &[1, 2, 4],
        exit_codes: &[3],
        lines: |size| all_say(size, "rank 0 ended the work of all ranks: the disk is full"),
        ..UNDER_MPIRUN
    },
    Expected {
        scenario: "rank_that_learns_of_an_abort_by_its_cancel",
        sizes: &[3],
        exit_codes: &[3],
        lines: |_| vec!["rank 1: ok, but the work of all has ended".to_owned()],
        ..UNDER_MPIRUN
    },
    Expected {
        scenario: "rank_that_panics",
        sizes: &[3],
        exit_codes: &[3, 101],
        lines: |_| {
            let told =
                |rank| format!("rank {rank}: rank 1 ended the work of all ranks: rank 1 panicked");
            vec![told(0), told(2)]
        },
        ..UNDER_MPIRUN
    },
    Expected {
        scenario: "rank_that_leaves_early",
        sizes: &[2],
        exit_codes: &[3],
        lines: |_| {
            let told = "rank 0: rank 0 waits for a message of rank 1, which has ended its work";
            vec![told.to_owned(), "rank 1: ok".to_owned()]
        },
        ..UNDER_MPIRUN
    },
    // The first rank that notices ends all processes, so that others may say nothing.
    Expected {
        scenario: "rank_that_stands_still",
        sizes: &[2],
        exit_codes: &[3],
        lines: is_silent,
        ..UNDER_MPIRUN
    },
    Expected {
        scenario: "rank_that_stands_still",
        sizes: &[4],
        exit_codes: &[3],
        lines: |_| Vec::new(),
        ..UNDER_MPIRUN
    },
    Expected {
        scenario: "rank_that_is_killed",
        sizes: &[2],
        // `mpirun` leaves the others alone, and tells nobody how the processes ended.
        starter: Some(&["--enable-recovery"]),
        exit_codes: &[0, 3],
        lines: is_silent,
        ..UNDER_MPIRUN
    },
    // `mpirun` ends the others, and tells the signal as a shell does.
    Expected {
        scenario: "rank_that_is_killed",
        sizes: &[3],
        exit_codes: &[137],
        lines: |_| Vec::new(),
        ..UNDER_MPIRUN
    },
    Expected {
        scenario: "rank_that_stands_still_when_others_are_done",
        sizes: &[2],
        exit_codes: &[3],
        lines: |_| vec!["rank 0: ok, but the work of all has ended".to_owned()],
        ..UNDER_MPIRUN
    },
    Expected {
        scenario: "rank_that_never_returns",
        sizes: &[2],
        exit_codes: &[3],
        lines: |_| vec!["rank 0: ok, but the work of all has ended".to_owned()],
        ..UNDER_MPIRUN
    },
    // The code is that of the settings.
    Expected {
        scenario: "ranks_that_never_return",
        sizes: &[3],
        exit_codes: &[9],
        lines: |_| Vec::new(),
        ..UNDER_MPIRUN
    },
];

fn is_silent(_: usize) -> Vec<String> {
    let told = "gave no sign of life for 1 s; see whether its machine still runs";
    vec![format!("rank 0: rank 1 {told}")]
}
