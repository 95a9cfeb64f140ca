//! Messages between two ranks: their order, their lengths, and how they are counted.

use tegula_comm::{Error, SimConfig, Tag};

use super::harness::{Transport, disturbed};

#[test]
fn messages_of_a_rank_with_a_tag_come_in_order() {
    const COUNT: u32 = 40;
    for transport in Transport::all() {
        transport.run(3, |comm, cancel| {
            for number in 0..COUNT {
                for to in 0..3 {
                    for tag in [7, 8] {
                        let message = [number, tag].map(u32::to_le_bytes).concat();
                        comm.send(to, Tag(tag), message).unwrap();
                    }
                }
            }
            // The tag that was sent last is received first.
            for (from, tag) in [(2, 8), (0, 7), (1, 8), (1, 7), (0, 8), (2, 7)] {
                for number in 0..COUNT {
                    let received = comm.receive(from, Tag(tag), cancel).unwrap();
                    assert_eq!(received, [number, tag].map(u32::to_le_bytes).concat());
                }
                assert_eq!(comm.poll(from, Tag(tag)), Ok(None), "{transport:?}");
            }
        });
    }
}

#[test]
fn polled_messages_come_in_order_too() {
    for transport in Transport::all() {
        transport.run(2, |comm, _| {
            let other = 1 - comm.rank();
            for number in 0..20 {
                comm.send(other, Tag(0), vec![number]).unwrap();
            }
            let mut received = Vec::new();
            while received.len() < 20 {
                received.extend(comm.poll(other, Tag(0)).unwrap().into_iter().flatten());
            }
            assert_eq!(received, (0..20).collect::<Vec<u8>>(), "{transport:?}");
        });
    }
}

fn with_short_messages(message_size_max: usize) -> [Transport; 2] {
    [
        Transport::Threads { message_size_max },
        Transport::Sim(SimConfig { message_size_max, ..disturbed(5) }),
    ]
}

#[test]
fn a_message_may_be_longer_than_a_chunk() {
    let message = |length: usize| (0..length).map(|at| (at % 251) as u8).collect::<Vec<u8>>();
    let lengths = [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 1000];
    for transport in with_short_messages(16).into_iter().chain(with_short_messages(17)) {
        transport.run(2, |comm, cancel| {
            if comm.rank() == 0 {
                for length in lengths {
                    comm.send_long(1, Tag(0), &message(length)).unwrap();
                }
                return;
            }
            for length in lengths {
                let received = comm.receive_long(0, Tag(0), cancel).unwrap();
                assert_eq!(received, message(length), "{length} over {transport:?}");
            }
        });
    }
    // Longer than what travels in the message with the length.
    Transport::Threads { message_size_max: 100_000 }.run(1, |comm, cancel| {
        for length in [4095, 4096, 4097, 100_000, 100_001] {
            comm.send_long(0, Tag(0), &message(length)).unwrap();
            assert_eq!(comm.receive_long(0, Tag(0), cancel).unwrap(), message(length));
        }
    });
}

#[test]
fn a_message_longer_than_a_chunk_is_refused_by_send() {
    for transport in with_short_messages(16) {
        let comm = &transport.ranks(1)[0];
        let refused = comm.send(0, Tag(0), vec![0; 17]);
        assert_eq!(refused, Err(Error::TooLong { to: 0, size: 17, size_max: 16 }));
        comm.send(0, Tag(0), vec![0; 16]).unwrap();
    }
}

#[test]
fn a_damaged_long_message_is_an_error() {
    let length = |length: u64| length.to_le_bytes().to_vec();
    for (messages, told) in [
        (vec![vec![1, 2, 3]], "its length has 3 bytes"),
        // Nobody allocates the length that a message claims.
        (vec![length(u64::MAX), vec![1], vec![]], "a packet is empty at byte 1"),
        (vec![length(5), vec![0; 3], vec![0; 3]], "its packets hold 6 bytes, not 5"),
        (vec![[length(1), vec![0; 2]].concat()], "its packets hold 2 bytes, not 1"),
    ] {
        Transport::Threads { message_size_max: 16 }.run(1, |comm, cancel| {
            for message in &messages {
                comm.send(0, Tag(0), message.clone()).unwrap();
            }
            let error = comm.receive_long(0, Tag(0), cancel).unwrap_err();
            assert!(matches!(error, Error::Damaged { from: 0, to: 0, .. }), "{error}");
            assert!(error.to_string().contains(told), "{error}");
        });
    }
}

#[test]
fn bytes_to_and_from_other_ranks_are_counted() {
    for transport in Transport::all() {
        let counts = transport.run(3, |comm, cancel| {
            let rank = comm.rank();
            for to in 0..3 {
                comm.send(to, Tag(0), vec![0; 10 * (rank + 1)]).unwrap();
            }
            for from in 0..3 {
                comm.receive(from, Tag(0), cancel).unwrap();
            }
            (comm.bytes_sent(), comm.bytes_received())
        });
        assert_eq!(counts, [(20, 50), (40, 40), (60, 30)], "{transport:?}");
    }
}
