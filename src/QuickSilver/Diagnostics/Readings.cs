using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Diagnostics;

// What the layers below name, as users see it.
internal static class Readings
{
    public static SendLimit Of(StreamLimit limit) => (SendLimit)limit;
}
