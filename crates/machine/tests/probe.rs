//! Probing a device: the curves and targets are plausible, nothing is left behind, and damaged
//! profiles are replaced.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use tegula_machine::Error;
use tegula_machine::disk::{Backend, DeviceProfile, KnownDevices, ProbeConfig, Targets, probe};
use tegula_machine::threads::{Cancel, Silent};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

fn probed(path: &Path, backend: &Backend) -> Result<DeviceProfile, Error> {
    let config = ProbeConfig { file_bytes_max: 20 << 20, point_time: Duration::from_millis(5) };
    probe(path, backend, &config, &Silent, &Cancel::default())
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("the folder").next().is_none()
}

#[test]
fn a_folder_is_probed_and_left_as_it_was() {
    let folder = folder();
    for backend in [Backend::Auto, Backend::Threads(NonZeroUsize::new(16).expect("some"))] {
        let profile = probed(folder.path(), &backend).expect("a profile");
        assert!(is_empty(folder.path()));
        let place = profile.mount_point.as_str();
        assert!(folder.path().starts_with(place), "{place}");
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
        assert!(mounts.lines().any(|line| line.split(' ').nth(4) == Some(place)), "{place}");
        let depths: Vec<u32> = profile.random.iter().map(|rate| rate.in_flight).collect();
        assert_eq!(depths, [1, 2, 4, 8, 16, 32, 64, 128]);
        assert!(profile.random.iter().all(|rate| rate.reads_per_second > 0));
        assert!(profile.sequential.iter().all(|rate| rate.bytes_per_second > 0));
        assert!(depths.contains(&profile.targets.random_requests));
        let of_curve = profile.sequential.iter().any(|rate| {
            rate.request_bytes == profile.targets.request_bytes_max
                && rate.request_bytes * u64::from(rate.in_flight)
                    == profile.targets.sequential_bytes
        });
        assert!(of_curve, "{:?}", profile.targets);
    }
}

#[test]
fn a_file_is_probed_and_left_as_it_was() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, vec![7; 3 << 20]).expect("a file");
    probed(&path, &Backend::Auto).expect("a profile");
    assert_eq!(fs::read(&path).expect("the file"), vec![7; 3 << 20]);
    fs::write(&path, b"too short").expect("a file");
    let error = probed(&path, &Backend::Auto).expect_err("nothing to read");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[test]
fn a_missing_path_cannot_be_probed() {
    let error = probed(&folder().path().join("none"), &Backend::Auto).expect_err("not there");
    assert!(matches!(error, Error::Io { action: "open", .. }), "{error}");
}

#[test]
fn a_cancelled_probe_leaves_nothing() {
    let folder = folder();
    let cancel = Cancel::default();
    cancel.cancel();
    let config = ProbeConfig { file_bytes_max: 20 << 20, ..ProbeConfig::default() };
    let answer = probe(folder.path(), &Backend::Auto, &config, &Silent, &cancel);
    assert!(matches!(answer, Err(Error::Cancelled)));
    assert!(is_empty(folder.path()));
}

#[test]
fn devices_are_remembered_and_a_damaged_file_is_replaced() {
    let folder = folder();
    let known = KnownDevices::in_folder(&folder.path().join("cache/tegula"));
    assert_eq!(known.profile_of(folder.path()), None);
    let profile = probed(folder.path(), &Backend::Auto).expect("a profile");
    known.keep(&profile).expect("written");
    assert_eq!(known.profile_of(folder.path()).as_ref(), Some(&profile));
    let other = DeviceProfile {
        device: "another".to_owned(),
        targets: Targets { random_requests: 7, ..Targets::default() },
        ..profile.clone()
    };
    known.keep(&other).expect("written");
    assert_eq!(known.profile_of(folder.path()).as_ref(), Some(&profile));
    let text = fs::read_to_string(known.path()).expect("the file");
    for damaged in ["", "{", "[]", &text[..text.len() / 2], &text.replace(".v1", ".v9")] {
        fs::write(known.path(), damaged).expect("written");
        assert_eq!(known.profile_of(folder.path()), None, "{damaged}");
        known.keep(&profile).expect("written");
        assert_eq!(known.profile_of(folder.path()).as_ref(), Some(&profile));
    }
    let files = fs::read_dir(folder.path().join("cache/tegula")).expect("the folder");
    assert_eq!(files.count(), 1, "nothing unfinished is left");
}
