using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;

namespace QuickSilver.Multicast.Sending;

// The ports through which a node sends its streams, and the way that each view's packets take.
internal sealed class SendingPorts(INodeEnvironment environment, MulticastOptions options, IDatagramReceiver receiver) : IDisposable
{
    // Opened when the first copy is to be sent. It is not told of a full queue: with that a system also tells of members that
    // are gone, as if a send had failed.
    private IDatagramPort? _copies;

    public int MaxRunSegments => Groups.MaxRunSegments;

    /// <summary>What goes to groups leaves here.</summary>
    public IDatagramPort Groups { get; } = Open(environment, options, receiver, tellsFullQueue: !options.Unicast);

    /// <summary>What goes to members one by one, but for control packets, leaves here.</summary>
    public IDatagramPort Copies => options.Unicast ? Groups : _copies ??= TryOpenCopies() ?? Groups;

    public void Dispose()
    {
        Groups.Dispose();
        _copies?.Dispose();
    }

    // Where the system refuses another port, the one that there is will do.
    private IDatagramPort? TryOpenCopies()
    {
        try
        {
            return Open(environment, options, receiver, tellsFullQueue: false);
        }
        catch (TransportException)
        {
            return null;
        }
    }

    private static IDatagramPort Open(
        INodeEnvironment environment, MulticastOptions options, IDatagramReceiver receiver, bool tellsFullQueue)
    {
        var port = new DatagramPortOptions
        {
            Receives = false,
            SegmentationOffload = options.SegmentationOffload,
            TellsFullQueue = tellsFullQueue,
        };
        return environment.OpenPort(port, receiver);
    }
}
