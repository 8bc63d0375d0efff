//! Listening on Unix sockets whose files are there already.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Barrier;

use loaderd_loader::unix_socket;

/// Starts at once, and how often.
const AT_ONCE: usize = 4;
const ROUNDS: usize = 100;

#[tokio::test]
async fn of_several_that_find_a_file_left_over_one_listens() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("socket");
    let runtime = tokio::runtime::Handle::current();
    for round in 0..ROUNDS {
        // Whoever listened there is gone, and has left its file.
        drop(UnixListener::bind(&path)?);
        let barrier = Barrier::new(AT_ONCE);
        let bound: Vec<_> = std::thread::scope(|scope| {
            let start = || {
                let _runtime = runtime.enter();
                barrier.wait();
                unix_socket::bind(&path)
            };
            let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().expect("does not panic")).collect()
        });
        let (listening, refused): (Vec<_>, Vec<_>) = bound.into_iter().partition(Result::is_ok);
        assert_eq!(listening.len(), 1, "listen in round {round}");
        for refusal in refused {
            let error = refusal.expect_err("is refused");
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (io::ErrorKind::AddrInUse, "somebody listens there")
            );
        }
        UnixStream::connect(&path)?;
        drop(listening);
        assert!(!path.exists(), "the file goes with its listener");
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 0, "nothing else is left");
    }
    Ok(())
}

#[tokio::test]
async fn a_file_that_another_has_put_there_stays() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("socket");
    let first = unix_socket::bind(&path)?;
    std::fs::remove_file(&path)?;
    let second = unix_socket::bind(&path)?;
    drop(first);
    assert!(path.exists(), "it is the second one's");
    UnixStream::connect(&path)?;
    drop(second);
    assert!(!path.exists());
    Ok(())
}
