using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Paths;

// The sizes of the paths from this node, and what cuts packets that are too large for one. A node without streams needs neither.
internal sealed class NodePaths(NodeContext context)
{
    private PathSizes? _sizes;

    /// <summary>How large packets may be.</summary>
    public PathSizes Sizes => _sizes ??= new PathSizes(context);

    public PieceCutter Pieces => field ??= new PieceCutter(context);

    /// <summary>The number of paths whose packet size is known or looked for.</summary>
    public int Known => _sizes?.Count ?? 0;

    /// <summary>A node is not a member any more.</summary>
    public void OnNodeGone(LostNode lost)
    {
        if (lost.EndPoint is { } at)
        {
            _sizes?.OnNodeGone(at);
        }
    }

    public void Close() => _sizes?.Close();
}
