//! Two network namespaces with a link between them, whose rate can be set.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::bench::lab::Lab;
use crate::tegula::Result;

/// The names of the namespaces end with the number of their rank.
const NAMESPACE: &str = "tegula-rank-";
/// The ends of the link have names of at most 15 bytes.
const DEVICE: &str = "tegula-";
const NETWORK: &str = "10.213.77.0/24";
const ADDRESSES: [&str; 2] = ["10.213.77.1", "10.213.77.2"];
/// Seconds of the link's rate that it lets pass at once, and the least such bytes, in which a packet
/// has room.
const BURST_SECONDS: f64 = 0.002;
const BURST_MIN: f64 = 128e3;
/// How long a packet may wait.
const LATENCY: &str = "50ms";
/// Open MPI takes processes on hosts of one name for neighbours with shared memory.
const ENTER: &str = r#"hostname "$0" && exec "$@""#;
/// The namespaces. Dropping this value removes them.
#[derive(Debug)]
pub struct Namespaces {
    agent: OsString,
}

impl Namespaces {
    /// Makes two namespaces and a link.
    ///
    /// # Errors
    /// Where this process may not, or `ip` or `tc` is missing.
    pub fn new(lab: &Lab<'_>) -> Result<Namespaces> {
        let agent = lab.scratch.join("agent.sh");
        fs::write(&agent, agent_script())?;
        fs::set_permissions(&agent, Permissions::from_mode(0o755))?;
        // Those of an interrupted run.
        remove();
        let namespaces = Namespaces { agent: agent.into() };
        let [one, two] = [0, 1].map(|rank| format!("{NAMESPACE}{rank}"));
        let [one_end, two_end] = [0, 1].map(|rank| format!("{DEVICE}{rank}"));
        run("ip", &["netns", "add", &one])?;
        run("ip", &["netns", "add", &two])?;
        let ends = [one_end.as_str(), "netns", &one, "type", "veth", "peer", "name", &two_end];
        run("ip", &[&["link", "add"], &ends[..], &["netns", &two]].concat())?;
        for (name, end, address) in [(&one, &one_end, ADDRESSES[0]), (&two, &two_end, ADDRESSES[1])]
        {
            run("ip", &["-n", name, "addr", "add", &format!("{address}/24"), "dev", end])?;
            run("ip", &["-n", name, "link", "set", "lo", "up"])?;
            run("ip", &["-n", name, "link", "set", end, "up"])?;
        }
        Ok(namespaces)
    }

    /// Limits the link, in each direction.
    pub fn limit(&self, bits_per_second: f64) -> Result<()> {
        let rate = format!("{bits_per_second:.0}bit");
        let burst = (bits_per_second / 8.0 * BURST_SECONDS).max(BURST_MIN);
        let burst = format!("{burst:.0}");
        for rank in 0..ADDRESSES.len() {
            let (name, end) = (format!("{NAMESPACE}{rank}"), format!("{DEVICE}{rank}"));
            let at = ["-n", &name, "qdisc", "replace", "dev", &end, "root"];
            let limit = ["tbf", "rate", &rate, "burst", &burst, "latency", LATENCY];
            run("tc", &[&at[..], &limit].concat())?;
        }
        Ok(())
    }

    /// Returns the words that start a rank in each namespace, with only the link between them.
    pub fn launcher(&self) -> Vec<OsString> {
        let first = format!("{NAMESPACE}0");
        let hosts = ADDRESSES.join(",");
        let enter = ["ip", "netns", "exec", &first, "unshare", "--uts", "sh", "-c", ENTER, &first];
        let open_mpi = ["mpirun", "--host", &hosts, "--bind-to", "none", "--mca"];
        let mut words: Vec<OsString> = enter.iter().chain(&open_mpi).map(OsString::from).collect();
        words.extend(["plm_rsh_agent".into(), self.agent.clone()]);
        for (name, value) in [
            ("pml", "ob1"),
            ("btl", "tcp,self"),
            ("btl_tcp_if_include", NETWORK),
            ("oob_tcp_if_include", NETWORK),
        ] {
            words.extend(["--mca", name, value].map(OsString::from));
        }
        words
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        remove();
    }
}

/// Returns a shell script by which Open MPI starts its daemon in the other namespace. Its arguments
/// are an address and the words of a line for a shell.
fn agent_script() -> String {
    format!(
        r#"#!/bin/sh
name={NAMESPACE}$((${{1##*.}} - 1))
shift
exec ip netns exec "$name" unshare --uts sh -c "hostname $name && $*"
"#
    )
}

/// Removes both namespaces, and with them the link. They may not be there.
fn remove() {
    for rank in 0..ADDRESSES.len() {
        let name = format!("{NAMESPACE}{rank}");
        let _ = Command::new("ip").args(["netns", "del", &name]).output();
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("{program} {}: {message}", arguments.join(" ")).into());
    }
    Ok(())
}
