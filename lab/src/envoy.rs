//! An Envoy: its version, its process, its statistics.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;
use tempfile::TempDir;

use crate::client::Connection;

/// How long Envoy may take to start.
const START: Duration = Duration::from_secs(30);

/// An Envoy on the disk.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    path: PathBuf,
    /// Such as `1.38.3`.
    pub(crate) version: String,
}

impl Build {
    pub(crate) fn new(path: &Path) -> anyhow::Result<Self> {
        let said = Command::new(path).arg("--version").output();
        let said = said.with_context(|| format!("{} cannot be run", path.display()))?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        // envoy  version: <commit>/<version>/<state>/<kind>/<TLS library>
        let version = said.split('/').find(|it| it.starts_with("1."));
        let version =
            version.with_context(|| format!("{} is no Envoy: `{said}`", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            version: version.to_owned(),
        })
    }

    /// The Istio that brings this Envoy: 1.30 has 1.38, and each of them has come with the next.
    pub(crate) fn istio(&self) -> anyhow::Result<String> {
        let istio = self.minor()?.checked_sub(8);
        let istio = istio.with_context(|| format!("Envoy {} is too old", self.version))?;
        Ok(format!("1.{istio}"))
    }

    /// Whether the pool of a logical DNS cluster outlives the answer.
    pub(crate) fn pins_logical_dns(&self) -> anyhow::Result<bool> {
        Ok(self.minor()? <= 38)
    }

    /// Whether no connection is made where a time of keepalive is 0.
    pub(crate) fn fails_without_keepalive_time(&self) -> anyhow::Result<bool> {
        Ok(self.minor()? <= 36)
    }

    fn minor(&self) -> anyhow::Result<u32> {
        let minor = self.version.split('.').nth(1);
        let minor = minor.and_then(|it| it.parse().ok());
        minor.with_context(|| format!("`{}` is no version", self.version))
    }
}

/// An Envoy that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Envoy {
    process: Child,
    admin: SocketAddr,
    /// Holds its configuration and what it says.
    folder: TempDir,
}

impl Envoy {
    /// Starts it, and waits until it serves.
    pub(crate) fn start(
        build: &Build,
        bootstrap: &Value,
        admin: SocketAddr,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("bootstrap.json");
        std::fs::write(&file, bootstrap.to_string())?;
        let process = Command::new(&build.path)
            .arg("--config-path")
            .arg(&file)
            .args([
                "--concurrency",
                "1",
                "--disable-hot-restart",
                "--log-level",
                "error",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join("log"))?)
            .spawn()?;
        let mut envoy = Self {
            process,
            admin,
            folder,
        };
        envoy.wait()?;
        Ok(envoy)
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        while start.elapsed() < START {
            if self.ask("/ready").is_ok_and(|said| said.trim() == "LIVE") {
                return Ok(());
            }
            if self.process.try_wait()?.is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.folder.path().join("log"))?;
        bail!("Envoy did not start: {log}")
    }

    /// A counter or gauge, by its full name; 0 where it has none of that name yet.
    pub(crate) fn stat(&self, name: &str) -> anyhow::Result<u64> {
        let filter = name.replace('|', "%7C");
        let said = self.ask(&format!("/stats?filter={filter}"))?;
        let lines = said.lines().filter_map(|line| line.split_once(": "));
        let value = lines.into_iter().find(|(of, _)| *of == name);
        value.map_or(Ok(0), |(_, value)| Ok(value.parse()?))
    }

    fn ask(&self, path: &str) -> anyhow::Result<String> {
        let mut connection = Connection::open(self.admin)?;
        let answer = connection.get("admin", path, Duration::ZERO)?;
        Ok(answer.body)
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
