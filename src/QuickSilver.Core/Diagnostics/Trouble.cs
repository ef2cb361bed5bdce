namespace QuickSilver.Core.Diagnostics;

// A problem of a node that still works. The public layer says of each kind what to do.
internal enum TroubleKind
{
    DatagramsLost,
    NotDiscoverable,
    GroupRefused,
    SendersNotHeard,
    NotHeard,
    AcknowledgementMissing,
    RepairMissing,
    ReaderFull,
    ReaderElsewhereFull,
    MemoryFull,
    ViewMissing,
    TopicOpening,
    CodecBlocks,
    HandlerBlocks,
    PathTooSmall,
    SubscribersMissing,
    AddressLost,
    HostNotReached,
    ServersApart,
    ThreadPoolStarved,
    ChangesWait,
    DescriptorsFew,
    StateChangeRefused,
    HeapFull,
    StateOpening,
    StateUndecodable,
    ProtocolWaits,
}

/// <summary>A trouble of a node.</summary>
/// <param name="Kind">The kind.</param>
/// <param name="Description">One or more sentences, with their stops.</param>
/// <param name="Since">When it began.</param>
/// <param name="WaitsFor">Whom or what the node waits for, as the end of a sentence; null if it waits for nothing in particular.</param>
internal sealed record Trouble(TroubleKind Kind, string Description, DateTimeOffset Since, string? WaitsFor = null);
