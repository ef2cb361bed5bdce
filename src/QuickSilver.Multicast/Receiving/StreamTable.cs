using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Receiving;

// The inbound streams of one view, by key and in the order of their first packets, which is deterministic.
internal sealed class StreamTable(NodeContext context)
{
    // The maximum number of streams at a time that other members report and whose senders the directory does not contain. They have
    // departed, or the directory will contain them soon.
    private const int MostStrangers = 256;

    private readonly Dictionary<StreamKey, InboundStream> _byKey = [];
    // The numbers of reliable classes of which a stream has come are below this.
    private int _numbers = 1;

    // A list, so that iteration does not allocate.
    public List<InboundStream> Ordered { get; } = [];

    /// <summary>Whether all streams are drained.</summary>
    public bool IsDrained
    {
        get
        {
            foreach (var stream in Ordered)
            {
                if (!stream.IsDrained)
                {
                    return false;
                }
            }

            return true;
        }
    }

    public InboundStream? Find(StreamKey key) => _byKey.GetValueOrDefault(key);

    /// <summary>A reliable stream of the sender, of whichever number; null if there is none.</summary>
    public InboundStream? FindReliable(NodeKey sender)
    {
        for (int number = 0; number < _numbers; number++)
        {
            if (_byKey.TryGetValue(new StreamKey(sender, StreamClass.ReliableOf(number)), out var stream))
            {
                return stream;
            }
        }

        return null;
    }

    /// <summary>Whether there is a stream of the sender, of whichever class.</summary>
    public bool HasAnyOf(NodeKey sender) =>
        FindReliable(sender) is not null || _byKey.ContainsKey(new StreamKey(sender, StreamClass.BestEffort));

    /// <summary>
    /// Whether a stream that another member reports can exist: its sender is in the directory, or few reported senders are not.
    /// </summary>
    public bool MayBe(StreamKey reported)
    {
        if (context.Directory.Contains(reported.Sender))
        {
            return true;
        }

        int strangers = 0;
        foreach (var stream in Ordered)
        {
            strangers += stream.IsReliable && !context.Directory.Contains(stream.Sender) ? 1 : 0;
        }

        return strangers < MostStrangers;
    }

    /// <summary>Whether this node has received no stream of this sender over the group for a while.</summary>
    public bool IsSilent(NodeKey sender)
    {
        bool isSilent = true;
        foreach (var stream in Ordered)
        {
            isSilent &= stream.Sender != sender || stream.Heard.IsSilent(context.Environment.Now);
        }

        return isSilent;
    }

    public void Add(InboundStream stream)
    {
        _byKey.Add(stream.Key, stream);
        _numbers = Math.Max(_numbers, stream.IsReliable ? stream.Class.Number + 1 : 1);
        Ordered.Add(stream);
    }

    /// <summary>Removes a stream from all but the order, which the caller is going through.</summary>
    public void Forget(InboundStream stream) => _byKey.Remove(stream.Key);
}
