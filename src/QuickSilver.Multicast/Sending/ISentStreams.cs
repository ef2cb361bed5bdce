using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Sending;

// The outbound streams of this node, including those of superseded views.
internal interface ISentStreams
{
    /// <summary>All of them, those of old views first.</summary>
    IReadOnlyList<RegionSender> Streams { get; }

    /// <summary>The stream of that class into that view of the region; null if there is none, or if it is settled.</summary>
    RegionSender? FindSender(ulong region, uint view, StreamClass streamClass);
}
