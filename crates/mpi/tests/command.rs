//! The command in processes that `mpirun` starts, beside the command of one machine. Needs Open
//! MPI, and the program `tegula` beside `tegula-mpi`: `make test-mpi` builds both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tegula_testkit::Scratch;

const MPI: &str = env!("CARGO_BIN_EXE_tegula-mpi");

/// The time after which a run counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a graph that is cut into shards.
struct Shop(Scratch);

impl Shop {
    fn with(ranks: usize) -> Shop {
        let shop = Shop(Scratch::new());
        shop.tegula("generate rmat --scale 20 --edge-factor 1 --weighted -o g.wel");
        let mut edges = fs::read(shop.path("g.wel")).unwrap();
        edges.extend_from_slice(b"1 2 0.5\n");
        fs::write(shop.path("g.wel"), edges).unwrap();
        shop.tegula("import g.wel -o g.tegula --weighted --undirected");
        shop.tegula(&format!("partition g.tegula --ranks {ranks} -o cut"));
        shop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the command of one machine.
    fn tegula(&self, words: &str) {
        let program = Path::new(MPI).with_file_name("tegula");
        assert!(program.exists(), "`make test-mpi` builds {}", program.display());
        let mut command = Command::new(program);
        let done = command.args(words.split(' ')).current_dir(self.0.path()).output().unwrap();
        assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Returns the command on ranks, not started.
    fn on_ranks(&self, ranks: usize, words: &str) -> Command {
        let mut command = self.mpirun();
        command.args(["-n", &ranks.to_string(), MPI]).args(words.split(' '));
        command
    }

    /// Returns the same on two ranks that have words of their own.
    fn on_two(&self, first: &str, second: &str) -> Command {
        let mut command = self.mpirun();
        command.args(["-n", "1", MPI]).args(first.split(' '));
        command.args([":", "-n", "1", MPI]).args(second.split(' '));
        command
    }

    fn mpirun(&self) -> Command {
        let mut command = Command::new("mpirun");
        command.arg("--oversubscribe");
        // Containers have no other user.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, ranks: usize, words: &str) -> Output {
        self.on_ranks(ranks, words).output().unwrap()
    }

    /// Asserts that a run fails with this exit code, and says these words once.
    #[track_caller]
    fn fails(&self, ranks: usize, words: &str, code: i32, told: &str) {
        self.has_failed(self.start(self.on_ranks(ranks, words)), code, told);
    }

    /// Asserts the same of a run that has begun.
    #[track_caller]
    fn has_failed(&self, mpirun: Child, code: i32, told: &str) {
        let (found, text) = self.end(mpirun);
        assert_eq!(found, Some(code), "{text}");
        assert_eq!(text.matches(told).count(), 1, "{text}");
    }

    /// Starts a command that says in a file what goes wrong.
    fn start(&self, mut command: Command) -> Child {
        let told = fs::File::create(self.path("told.txt")).unwrap();
        command.stdout(Stdio::null()).stderr(told).spawn().unwrap()
    }

    /// Waits for the end of a run. Returns its exit code, `None` after a signal, and what it has
    /// said. No part of a table `x` is left.
    #[track_caller]
    fn end(&self, mut mpirun: Child) -> (Option<i32>, String) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = mpirun.try_wait().unwrap() {
                break status;
            }
            if since.elapsed() > PATIENCE {
                mpirun.kill().unwrap();
                panic!("ranks hang: {}", fs::read_to_string(self.path("told.txt")).unwrap());
            }
            std::thread::park_timeout(Duration::from_millis(20));
        };
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(!names.any(|name| name.contains("x.csv")), "a table is left");
        (status.code(), String::from_utf8_lossy(&fs::read(self.path("told.txt")).unwrap()).into())
    }

    /// Whether rank 1 has kept a checkpoint in `kept` after this iteration.
    fn has_checkpoint_after(&self, iteration: u32) -> bool {
        let entries = fs::read_dir(self.path("kept/rank-1")).into_iter().flatten().flatten();
        let mut names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.any(|name| {
            let number = name.strip_prefix("version-").and_then(|number| number.parse().ok());
            number.is_some_and(|number: u32| number > iteration)
        })
    }
}

#[test]
fn processes_write_the_table_of_one_machine() {
    for ranks in [1, 2, 3] {
        let shop = Shop::with(ranks);
        for algorithm in
            ["pagerank --iterations 4", "bfs --source 1 --parents", "sssp --source 1", "wcc"]
        {
            shop.tegula(&format!("run {algorithm} g.tegula -o one.csv --force"));
            let words = format!("run {algorithm} cut -o ranks.csv --force --threads 1");
            let done = shop.run(ranks, &words);
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            let [one, all] =
                ["one.csv", "ranks.csv"].map(|name| fs::read(shop.path(name)).unwrap());
            assert!(one == all, "{algorithm} on {ranks} ranks");
        }
    }
}

#[test]
fn a_rank_reads_no_shard_but_its_own() {
    let shop = Shop::with(2);
    for rank in 0..2 {
        let folder = shop.path(&format!("machine-{rank}"));
        fs::create_dir(&folder).unwrap();
        let shard = format!("rank-{rank}.tegula");
        fs::rename(shop.path("cut").join(&shard), folder.join(&shard)).unwrap();
    }
    let words =
        "run bfs cut --source 1 -o x.csv --rank-directory machine-{rank}/rank-{rank}.tegula";
    let done = shop.run(2, words);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(shop.path("x.csv").exists());
}

#[test]
fn a_failure_is_told_once_with_the_exit_code_of_one_machine() {
    let shop = Shop::with(2);
    shop.fails(2, "run bfs cut --source 999999999", 3, "no vertex");
    shop.fails(3, "run pagerank cut", 3, "it has 2 shards, but there are 3 ranks");
    shop.fails(2, "run pagerank cut --ranks 5", 2, "--ranks is 5, but 2 processes");
    shop.fails(2, "run pagerank g.tegula", 2, "a graph of one machine");
    shop.fails(2, "run scc cut", 1, "does not run on ranks");
    shop.fails(2, "info cut", 2, "only `run` runs on ranks");
    shop.fails(2, "run pagerank cut --no-such-option", 2, "unexpected argument");
    let tiles = shop.path("cut/rank-1.tegula/tiles.data");
    let mut bytes = fs::read(&tiles).unwrap();
    bytes[0] ^= 1;
    fs::write(&tiles, bytes).unwrap();
    shop.fails(2, "run pagerank cut -o x.csv", 3, "is damaged at tile");
    assert!(!shop.path("x.csv").exists());
}

#[test]
fn a_killed_rank_ends_the_others() {
    let shop = Shop::with(2);
    let words = "run pagerank cut --iterations 1000000 -o x.csv --threads 1";
    let mpirun = shop.start(shop.on_ranks(2, words));
    let ranks = ranks_once(&mpirun, |since| since.elapsed() > Duration::from_secs(2));
    kill_process(ranks[1], Signal::KILL).unwrap();
    assert_ne!(shop.end(mpirun).0, Some(0));
    assert_gone(&ranks);
}

/// A run that goes on until it is disturbed. It keeps checkpoints in `kept`.
const LONG: &str = "run pagerank cut --iterations 1000000 -o x.csv --threads 1 --checkpoint kept";

#[test]
fn a_frozen_rank_ends_the_others_after_the_silence() {
    let shop = Shop::with(2);
    let mut command = shop.on_ranks(2, LONG);
    command.env("TEGULA_MPI_SILENCE", "4");
    let mpirun = shop.start(command);
    let ranks = ranks_once(&mpirun, |_| shop.has_checkpoint_after(2));
    kill_process(ranks[1], Signal::STOP).unwrap();
    shop.has_failed(mpirun, 1, "rank 1 is lost: it gave no sign of life for 4 s");
    assert_gone(&ranks);
}

#[test]
fn an_interrupt_of_the_launcher_ends_all_ranks() {
    let shop = Shop::with(2);
    let mpirun = shop.start(shop.on_ranks(2, LONG));
    let ranks = ranks_once(&mpirun, |_| shop.has_checkpoint_after(2));
    kill_process(Pid::from_child(&mpirun), Signal::INT).unwrap();
    // The launcher ends the ranks by a signal of its own, and decides about the exit code.
    let (code, told) = shop.end(mpirun);
    assert_ne!(code, Some(0), "{told}");
    assert!(told.matches("interrupted").count() <= 1, "{told}");
    assert_gone(&ranks);
}

#[test]
fn a_rank_without_its_shard_ends_all() {
    let shop = Shop::with(2);
    fs::rename(shop.path("cut/rank-1.tegula"), shop.path("away")).unwrap();
    shop.fails(2, "run pagerank cut -o x.csv", 3, "it does not exist");
}

#[test]
fn a_shard_of_another_graph_ends_all() {
    let shop = Shop::with(2);
    shop.tegula("generate rmat --scale 20 --edge-factor 1 --seed 9 --weighted -o h.wel");
    shop.tegula("import h.wel -o h.tegula --weighted --undirected");
    shop.tegula("partition h.tegula --ranks 2 -o other");
    fs::rename(shop.path("cut/rank-1.tegula"), shop.path("away")).unwrap();
    fs::rename(shop.path("other/rank-1.tegula"), shop.path("cut/rank-1.tegula")).unwrap();
    shop.fails(2, "run pagerank cut -o x.csv", 3, "a shard of another graph");
}

#[test]
fn a_rank_with_too_little_memory_ends_all() {
    let shop = Shop::with(2);
    let run = "run pagerank cut -o x.csv";
    let command = shop.on_two(run, &format!("{run} --memory 1MiB"));
    shop.has_failed(shop.start(command), 4, "but the budget is");
}

#[test]
fn ranks_that_run_different_things_are_refused() {
    let shop = Shop::with(2);
    let run = "run pagerank cut -o x.csv --iterations 3";
    for other in [
        "run pagerank cut -o x.csv --iterations 4",
        "run wcc cut -o x.csv",
        "run pagerank cut -o x.csv --iterations 3 --checkpoint kept",
        "run pagerank cut -o {rank}-x.csv --iterations 3",
    ] {
        let told = "rank 1 runs another algorithm or other options than rank 0";
        shop.has_failed(shop.start(shop.on_two(run, other)), 2, told);
    }
    for (other, told) in [
        ("info cut", "only `run` runs on ranks"),
        ("run pagerank cut --no-such-option", "unexpected argument"),
    ] {
        shop.has_failed(shop.start(shop.on_two(run, other)), 2, told);
    }
}

#[test]
fn ranks_may_have_other_memory_threads_and_folders() {
    let shop = Shop::with(2);
    fs::rename(shop.path("cut/rank-1.tegula"), shop.path("away")).unwrap();
    shop.tegula("run pagerank g.tegula --iterations 3 -o one.csv");
    let run = "run pagerank cut -o all.csv --iterations 3";
    let other = "run pagerank cut --rank-directory away --iterations 3 --memory 1GiB --threads 2";
    let refused = "`away` has no place for the number of the rank";
    shop.has_failed(shop.start(shop.on_two(run, other)), 2, refused);
    fs::rename(shop.path("away"), shop.path("away-1")).unwrap();
    let other = other.replace("away", "away-{rank}");
    let (code, told) = shop.end(shop.start(shop.on_two(run, &other)));
    assert_eq!(code, Some(0), "{told}");
    let [one, all] = ["one.csv", "all.csv"].map(|name| fs::read(shop.path(name)).unwrap());
    assert!(one == all);
}

#[test]
fn each_process_writes_the_rows_of_its_own_vertices() {
    let shop = Shop::with(2);
    shop.tegula("run bfs g.tegula --source 1 -o one.csv");
    let done = shop.run(2, "run bfs cut --source 1 -o part-{rank}.csv --threads 1");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let rows = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(shop.path(name)).unwrap();
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let (mut one, parts) = (rows("one.csv"), ["part-0.csv", "part-1.csv"].map(rows));
    assert!(parts.iter().all(|rows| !rows.is_empty()));
    let mut all = parts.concat();
    one.sort_unstable();
    all.sort_unstable();
    assert!(one == all);
}

#[test]
fn a_run_resumes_after_a_rank_was_killed() {
    let shop = Shop::with(2);
    shop.tegula("run pagerank g.tegula --iterations 500 -o one.csv");
    let words = "run pagerank cut --iterations 500 -o x.csv --threads 1 --checkpoint kept";
    let mpirun = shop.start(shop.on_ranks(2, words));
    let ranks = ranks_once(&mpirun, |_| shop.has_checkpoint_after(5));
    kill_process(ranks[1], Signal::KILL).unwrap();
    assert_ne!(shop.end(mpirun).0, Some(0));
    let words = "run pagerank cut --iterations 500 -o x.csv --threads 2 --resume kept";
    let done = shop.run(2, words);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && told.contains("before the checkpoint"), "{told}");
    let [one, all] = ["one.csv", "x.csv"].map(|name| fs::read(shop.path(name)).unwrap());
    assert!(one == all);
}

/// Returns the processes of a run of two, by rank, once it is time.
fn ranks_once(mpirun: &Child, is_time: impl Fn(Instant) -> bool) -> Vec<Pid> {
    let since = Instant::now();
    loop {
        let mut ranks = children_of(mpirun.id());
        if ranks.len() == 2 && is_time(since) {
            ranks.sort_by_key(|&pid| rank_of(pid));
            return ranks;
        }
        assert!(since.elapsed() < PATIENCE, "the ranks do not start");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Asserts that these processes end within the patience.
#[track_caller]
fn assert_gone(processes: &[Pid]) {
    let since = Instant::now();
    while processes.iter().any(|&pid| stat(pid).is_some_and(|stat| stat.state != "Z")) {
        assert!(since.elapsed() < PATIENCE, "a rank is left");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Returns the children of a process.
fn children_of(parent: u32) -> Vec<Pid> {
    let pid = |entry: fs::DirEntry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?);
    let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(pid);
    processes.filter(|&pid| stat(pid).is_some_and(|stat| stat.parent == parent)).collect()
}

/// What the system says of a process.
struct Stat {
    /// `Z` for one that has ended, but whose parent does not know.
    state: String,
    parent: u32,
}

/// Returns what the system says of a process that exists.
fn stat(pid: Pid) -> Option<Stat> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name of the program stands in parentheses; the state and the parent follow.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some(Stat { state: fields.next()?.to_owned(), parent: fields.next()?.parse().ok()? })
}

/// Returns the rank that Open MPI gave to a process.
fn rank_of(pid: Pid) -> Option<usize> {
    let variables = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
    let variables = String::from_utf8_lossy(&variables).into_owned();
    let mut ranks = variables.split('\0').filter_map(|it| it.strip_prefix("OMPI_COMM_WORLD_RANK="));
    ranks.next()?.parse().ok()
}
