using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Protocol.Replies;

// Writes a configuration change as one or more framed parts into a writer, cutting where a part has grown large.
internal sealed class ConfigurationWriter(ControlBuffer buffer, int maxPartBytes = ConfigurationWriter.DefaultPartBytes)
{
    // Far below the frame's cap, so that no single item (a region of thousands of members) takes a part over it; and small, as
    // a node keeps what it has of a part until the rest is there.
    private const int DefaultPartBytes = 64 * 1024;

    private int _frame;
    private int _envelope;
    private int _part;
    private ConfigurationHeader _header;

    /// <summary>The number of the next part.</summary>
    public int NextPart => _part;

    public void Begin(in ConfigurationHeader header, int firstPart = 0)
    {
        _header = header;
        _part = firstPart;
        BeginPart();
    }

    public void Add(NodeInfo joined)
    {
        MakeRoom();
        ViewFields.WriteInfo(buffer, 7, joined);
    }

    public void Add(NodeKey removed)
    {
        MakeRoom();
        ViewFields.WriteNode(buffer, 8, removed);
    }

    public void Add(EndedLife ended)
    {
        MakeRoom();
        EndedFields.Write(buffer, 13, ended);
    }

    public void Add(RegionView region)
    {
        MakeRoom();
        ViewFields.WriteRegion(buffer, 9, region);
    }

    public void Add(TopicView topic)
    {
        MakeRoom();
        ViewFields.WriteTopic(buffer, 10, topic);
    }

    public void AddOutOfSight(ulong region)
    {
        MakeRoom();
        buffer.Fixed64(11, region);
    }

    public void End(bool isLast) => EndPart(isLast);

    private void MakeRoom()
    {
        if (buffer.Length - _frame >= maxPartBytes)
        {
            EndPart(isLast: false);
            BeginPart();
        }
    }

    private void BeginPart()
    {
        _frame = buffer.BeginFrame();
        _envelope = buffer.Begin(ControlMessageKind.Configuration);
        buffer.Int64(1, _header.Number);
        buffer.Int64(2, _header.Previous);
        buffer.Bool(3, _header.IsSnapshot);
        buffer.UInt64(4, (ulong)_part++);
    }

    private void EndPart(bool isLast)
    {
        buffer.Bool(5, isLast);
        buffer.UInt64(6, isLast ? _header.LastRequest : 0);
        ViewFields.WriteClusterKey(buffer, 12, isLast ? _header.ClusterKey : null);
        buffer.End(_envelope);
        buffer.EndFrame(_frame);
    }
}

internal readonly record struct ConfigurationHeader(
    long Number, long Previous, bool IsSnapshot, ulong LastRequest, ClusterKey? ClusterKey = null);
