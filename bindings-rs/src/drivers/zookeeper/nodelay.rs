//! Sets `TCP_NODELAY` on connections of a library that neither sets it nor gives access to its sockets.
//!
//! Without it, the second of two requests waits for the reply to the first. A process may list its own descriptors, and
//! pass itself a copy of one through a pair of sockets. The copy shares the options of its socket. (`pidfd_getfd` also
//! copies, but containers forbid it by default.) If one of these steps fails, the option is not set, and requests are
//! only slower.

use core::mem::{self, MaybeUninit};
use std::{
    fs::{self, DirEntry},
    io::{self, IoSliceMut},
    net::{SocketAddr, TcpStream},
    os::{
        fd::{OwnedFd, RawFd},
        unix::net::UnixDatagram,
    },
};

use rustix::{
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg},
};
use sendfd::SendWithFd;

/// Sets the option on every connection of this process to one of these ports, also on connections of other code, where
/// it does no harm. It takes some microseconds for each socket of the process. Returns the peer addresses of these
/// connections.
pub(crate) fn set(ports: &[u16]) -> io::Result<Vec<SocketAddr>> {
    let mut peers = Vec::new();
    let mirror = Mirror(UnixDatagram::pair()?);
    for entry in fs::read_dir("/proc/self/fd")? {
        // Descriptors may be opened and closed meanwhile.
        if let Some(copy) = socket(&entry?).and_then(|number| mirror.copy(number).ok()) {
            let connection = TcpStream::from(copy);
            match connection.peer_addr() {
                // The copy shares the option with the original.
                Ok(peer) if ports.contains(&peer.port()) => {
                    // A socket that is not TCP refuses the option.
                    let _as_it_was = connection.set_nodelay(true);
                    peers.push(peer);
                }
                // The number now belongs to a file. If this closed a copy of it, the process would lose all its locks
                // on that file.
                Err(error) if Errno::from_io_error(&error) == Some(Errno::NOTSOCK) => mem::forget(connection),
                _ => {}
            }
        }
    }
    Ok(peers)
}

/// The number of a descriptor, if the descriptor is a socket.
fn socket(entry: &DirEntry) -> Option<RawFd> {
    let what = fs::read_link(entry.path()).ok()?;
    let is_socket = what.as_os_str().as_encoded_bytes().starts_with(b"socket:");
    is_socket.then(|| entry.file_name().to_str()?.parse().ok())?
}

struct Mirror((UnixDatagram, UnixDatagram));

impl Mirror {
    fn copy(&self, number: RawFd) -> io::Result<OwnedFd> {
        let Self((here, there)) = self;
        here.send_with_fd(&[0], &[number])?;
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut sent = RecvAncillaryBuffer::new(&mut room);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        recvmsg(there, &mut [IoSliceMut::new(&mut [0])], &mut sent, flags)?;
        let copy = sent.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut copies) => copies.next(),
            _ => None,
        });
        copy.ok_or_else(|| Errno::MFILE.into())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn pair() -> (TcpListener, TcpStream, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        (listener, stream, address.port())
    }

    #[test]
    fn only_connections_to_these_ports_are_set() {
        let (_listener, ours, port) = pair();
        let (_other_listener, other, _) = pair();
        assert_eq!(set(&[port]).unwrap(), [ours.peer_addr().unwrap()]);
        assert!(ours.nodelay().unwrap());
        assert!(!other.nodelay().unwrap());
    }
}
