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
        let mut command = Command::new("mpirun");
        command.args(["--oversubscribe", "-n", &ranks.to_string(), MPI]).args(words.split(' '));
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
        let failed = self.run(ranks, words);
        let text = String::from_utf8_lossy(&failed.stderr);
        assert_eq!(failed.status.code(), Some(code), "{text}");
        assert_eq!(text.matches(told).count(), 1, "{text}");
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
    let mut mpirun = shop.on_ranks(2, words).stderr(Stdio::null()).spawn().unwrap();
    kill_one(&mut mpirun, |since| since.elapsed() > Duration::from_secs(2));
    assert!(!shop.path("x.csv").exists());
}

#[test]
fn a_run_resumes_after_a_rank_was_killed() {
    let shop = Shop::with(2);
    shop.tegula("run pagerank g.tegula --iterations 500 -o one.csv");
    let words = "run pagerank cut --iterations 500 -o x.csv --threads 1 --checkpoint kept";
    let mut mpirun = shop.on_ranks(2, words).stderr(Stdio::null()).spawn().unwrap();
    kill_one(&mut mpirun, |_| {
        let names = fs::read_dir(shop.path("kept/rank-1")).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut numbers =
            names.filter_map(|entry| name(entry).strip_prefix("version-")?.parse().ok());
        numbers.any(|number: u32| number > 5)
    });
    assert!(!shop.path("x.csv").exists());
    let words = "run pagerank cut --iterations 500 -o x.csv --threads 2 --resume kept";
    let done = shop.run(2, words);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && told.contains("before the checkpoint"), "{told}");
    let [one, all] = ["one.csv", "x.csv"].map(|name| fs::read(shop.path(name)).unwrap());
    assert!(one == all);
}

/// Kills a rank of a run of two once it is time, and waits until the other one has ended too.
fn kill_one(mpirun: &mut Child, is_time: impl Fn(Instant) -> bool) {
    let since = Instant::now();
    let ranks = loop {
        let ranks = children_of(mpirun.id());
        if ranks.len() == 2 && is_time(since) {
            break ranks;
        }
        assert!(since.elapsed() < PATIENCE, "the ranks do not start");
        std::thread::park_timeout(Duration::from_millis(20));
    };
    kill_process(*ranks.last().unwrap(), Signal::KILL).unwrap();
    let since = Instant::now();
    let status = loop {
        if let Some(status) = mpirun.try_wait().unwrap() {
            break status;
        }
        if since.elapsed() > PATIENCE {
            mpirun.kill().unwrap();
            panic!("the other rank hangs");
        }
        std::thread::park_timeout(Duration::from_millis(20));
    };
    assert!(!status.success());
}

/// Returns the children of a process.
fn children_of(parent: u32) -> Vec<Pid> {
    let stat = |entry: fs::DirEntry| -> Option<Pid> {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name of the program stands in parentheses, and the parent two fields behind it.
        let of: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Pid::from_raw(pid).filter(|_| of == parent)
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(stat).collect()
}
