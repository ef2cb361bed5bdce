namespace QuickSilver.Core.Requests;

// In the order in which they are served. Control before data, both ways: a token or an acknowledgement that waits behind
// packets makes the packets wait in turn, in other nodes' retention buffers. Repairs before new data, for which others wait already. In
// before out: what came may make a send needless.
internal enum WorkClass
{
    InboundControl = 0,
    InboundRepair,
    InboundData,
    OutboundControl,
    OutboundData,
    Disk,
    Other,
}
