using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Sending;

// This node's outbound streams, those of superseded views included.
internal interface ISentStreams
{
    /// <summary>All of them, those of old views first.</summary>
    IReadOnlyList<RegionSender> Streams { get; }

    /// <summary>The stream of that class into that view of the region; null when there is none, or it is settled.</summary>
    RegionSender? FindSender(ulong region, uint view, StreamClass streamClass);
}
