//! Imports that are killed outright leave no graph or a whole one, and nothing that blocks the next
//! import. Kills happen at fractions of the measured time of a whole import, so that they are
//! spread over it on any machine.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tegula_testkit::XorShift;

use crate::shop::{Shop, wait_until};

/// The number of kills, spread over the time of a whole import.
const KILLS: u32 = 14;
/// Kills around the moment at which a graph takes its name.
const KILLS_LATE: u32 = 12;

/// A graph directory, file by file.
type Files = BTreeMap<String, Vec<u8>>;

/// Two edge lists, and the graphs that they become.
struct Two {
    shop: Shop,
    old: Files,
    new: Files,
    /// The time of an import.
    whole: Duration,
}

impl Two {
    fn new() -> Two {
        let shop = Shop::new();
        shop.tegula("generate rmat --scale 12 --seed 1 -o old.el").done();
        shop.tegula("generate rmat --scale 15 --seed 2 -o new.el").done();
        shop.tegula("import old.el -o g.tegula").done();
        let old = shop.files("g.tegula");
        let started = Instant::now();
        shop.tegula("import new.el -o g.tegula --force").done();
        let whole = started.elapsed();
        let new = shop.files("g.tegula");
        assert_ne!(old, new);
        Two { shop, old, new, whole }
    }

    /// Restores the state before an import: the old graph, or nothing.
    fn put_back(&self, old: bool) {
        let graph = self.shop.path("g.tegula");
        if graph.exists() {
            fs::remove_dir_all(&graph).unwrap();
        }
        if old {
            fs::create_dir(&graph).unwrap();
            self.old.iter().for_each(|(name, bytes)| {
                fs::write(graph.join(name), bytes).unwrap();
            });
        }
    }

    /// Asserts that the graph is one of the two, whole; returns its files.
    #[track_caller]
    fn assert_whole(&self) -> &Files {
        self.shop.tegula("verify g.tegula --quiet").done();
        let found = self.shop.files("g.tegula");
        let expected = [&self.old, &self.new].into_iter().find(|files| **files == found);
        expected.expect("it is one of the two, byte for byte")
    }

    /// Kills an import, and returns whether it was still at work. If it was done, asserts that it
    /// left the new graph.
    #[track_caller]
    fn kill(&self, child: Child) -> bool {
        let was_at_work = kill(child);
        assert!(was_at_work || self.assert_whole() == &self.new);
        was_at_work
    }

    /// Starts imports, kills each at another moment, and checks with `look` what is left.
    #[track_caller]
    fn kill_at_any_moment(&self, words: &str, old: bool, seed: u64, look: impl Fn()) {
        let mut random = XorShift::new(seed);
        let mut killed = 0;
        for moment in 0..KILLS {
            self.put_back(old);
            let child = self.shop.start(words);
            sleep(self.whole.mul_f64((f64::from(moment) + random.fraction()) / f64::from(KILLS)));
            killed += u32::from(self.kill(child));
            look();
        }
        assert!(killed > 0, "every import was quicker than the kill");
    }

    /// Asserts that only the inputs and the graph are there.
    #[track_caller]
    fn assert_tidy(&self) {
        assert_eq!(self.shop.names(), ["g.tegula", "new.el", "old.el"]);
    }

    /// Returns the hidden directory of the running import, if there is one.
    fn unfinished(&self) -> Option<PathBuf> {
        let names = self.shop.names();
        let hidden = names.iter().find(|name| name.starts_with(".g.tegula.unfinished-"));
        hidden.map(|name| self.shop.path(name))
    }
}

/// Kills a process; returns whether it was still at work.
#[track_caller]
fn kill(mut child: Child) -> bool {
    child.kill().unwrap();
    let status = child.wait().unwrap();
    let was_at_work = status.signal() == Some(9);
    assert!(was_at_work || status.success(), "{status}");
    was_at_work
}

#[test]
#[ignore = "long"]
fn an_import_that_is_killed_at_any_moment_leaves_nothing_that_opens() {
    let two = Two::new();
    let words = "import new.el -o g.tegula --memory 64MiB --quiet";
    two.kill_at_any_moment(words, false, 1, || {
        // The last kill may come just after the end.
        if two.shop.path("g.tegula").exists() {
            assert!(two.assert_whole() == &two.new);
            return;
        }
        for command in ["info", "verify", "run wcc"] {
            two.shop.tegula(&format!("{command} g.tegula")).failed(3, &["g.tegula"]);
        }
        two.shop.tegula(words).done();
        assert!(two.assert_whole() == &two.new);
        two.assert_tidy();
    });
}

#[test]
fn a_replacement_that_is_killed_at_any_moment_leaves_the_old_graph_or_the_new_one() {
    let two = Two::new();
    let words = "import new.el -o g.tegula --memory 64MiB --quiet --force";
    two.kill_at_any_moment(words, true, 2, || {
        two.assert_whole();
    });
    two.shop.tegula(words).done();
    assert!(two.assert_whole() == &two.new);
    two.assert_tidy();
}

#[test]
fn a_replacement_that_is_killed_while_it_takes_its_name_leaves_one_of_the_two() {
    let two = Two::new();
    let words = "import new.el -o g.tegula --quiet --force";
    let mut killed = 0;
    // The work that is left then is short beside the whole import. How short depends on the disk
    // and on other processes, so the moment of the kill approaches the end from both sides.
    let mut late = two.whole / 100;
    for _ in 0..KILLS_LATE {
        two.put_back(true);
        let mut child = two.shop.start(words);
        // The manifest is the last file that is written. Soon afterwards the directories change
        // places, and the old one is removed file by file.
        let is_written = || two.unfinished().is_some_and(|it| it.join("manifest.json").exists());
        while !is_written() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        sleep(late);
        let was_at_work = two.kill(child);
        killed += u32::from(was_at_work);
        late = if was_at_work { late.mul_f64(1.4) } else { late / 4 };
        two.assert_whole();
        // The next import first removes what is left of the losing graph.
        two.shop.tegula("import old.el -o g.tegula --quiet --force").done();
        assert!(two.assert_whole() == &two.old);
        two.assert_tidy();
    }
    assert!(killed > 0, "every import was quicker than the kill");
}

#[test]
fn temporary_files_vanish_with_the_import_that_is_killed() {
    let shop = Shop::new();
    fs::create_dir(shop.path("spill")).unwrap();
    let mut child = shop.start("import - -o g.tegula --memory 64MiB --spill-directory spill");
    let mut input = child.stdin.take().unwrap();
    input.write_all("1 2\n2 3\n70 1\n".repeat(1_000_000).as_bytes()).unwrap();
    // It holds a file in that folder open that has no name there.
    let opened = PathBuf::from(format!("/proc/{}/fd", child.id()));
    let spill = shop.path("spill").canonicalize().unwrap();
    wait_until(&mut child, || {
        let files = fs::read_dir(&opened).unwrap().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|at| at.starts_with(&spill))
    });
    assert!(kill(child));
    assert_eq!(fs::read_dir(shop.path("spill")).unwrap().count(), 0);
    let left = shop.names();
    assert!(left.len() == 2 && left[0].starts_with(".g.tegula.unfinished-"), "{left:?}");
    shop.tegula("info g.tegula").failed(3, &["g.tegula"]);

    shop.write("g.el", "1 2\n");
    shop.tegula("import g.el -o g.tegula").done();
    assert_eq!(shop.names(), ["g.el", "g.tegula", "spill"]);
}
