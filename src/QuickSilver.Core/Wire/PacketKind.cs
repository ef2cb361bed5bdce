namespace QuickSilver.Core.Wire;

internal enum PacketKind : byte
{
    None = 0,
    // Messages of a sender to a region; numbered, retained, repaired.
    Data = 1,
    // A quiet sender's last number, so that a lost tail is noticed.
    Announce = 2,
    // The ring's token.
    Token = 3,
    // A request for packets by ranges.
    Pull = 4,
    // A region's aggregate acknowledgement to one sender.
    Ack = 5,
    // Asks a silent ring member to show that it lives, and its answer.
    Probe = 6,
    ProbeReply = 7,
    // To a sender: how much of which of its topics the node takes.
    Credit = 8,
    // Asks each receiver to answer to the address that it names, member of anything or not, and the answer.
    Echo = 9,
    EchoReply = 10,
    // Whether a member hears a sender over the region's group, between the two.
    Hearing = 11,
    // To ring neighbours: how long the node stood still.
    Pause = 12,
    // Data for several regions of a topic, sent once to the topic's address.
    Shared = 13,
    // A piece of a data packet that a path does not carry whole.
    Piece = 14,
}

[Flags]
internal enum PacketFlags : ushort
{
    None = 0,
    // An announcement that nothing will follow in this view.
    Final = 2,
    // The sender wants to know soon that this is held: a caller waits for it, or a good part of its window is used up.
    AckWanted = 4,
    // A data packet that is sent again: its receiver handles it before new ones.
    Repair = 8,
    // A data packet that was made of a shared one.
    Shared = 16,
    // A token that each member sends twice, because tokens of its ring are lost.
    Twice = 32,
}
