using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Dissemination;

// The ports through which a node sends its streams: those that the environment opens, and over them what seals packets.
internal sealed class SendingPorts(
    INodeEnvironment environment, NodeOptions options, IDatagramReceiver receiver, Func<IDatagramPort, IDatagramPort> over)
    : IDisposable
{
    // Opened when the first copy is sent. It does not report a full queue: on this port the operating system would also report members
    // that no longer exist, as if a send had failed.
    private IDatagramPort? _copies;

    public int MaxRunSegments => Groups.MaxRunSegments;

    /// <summary>The port for packets to groups.</summary>
    public IDatagramPort Groups { get; } = over(Open(environment, options, receiver, reportsFullQueue: !options.Unicast));

    /// <summary>The port for unicast packets to members, except control packets.</summary>
    public IDatagramPort Copies => options.Unicast ? Groups : _copies ??= TryOpenCopies() ?? Groups;

    public void Dispose()
    {
        Groups.Dispose();
        _copies?.Dispose();
    }

    // If the system refuses another port, the existing one is used.
    private IDatagramPort? TryOpenCopies()
    {
        try
        {
            return over(Open(environment, options, receiver, reportsFullQueue: false));
        }
        catch (TransportException)
        {
            return null;
        }
    }

    private static IDatagramPort Open(
        INodeEnvironment environment, NodeOptions options, IDatagramReceiver receiver, bool reportsFullQueue)
    {
        var port = new DatagramPortOptions
        {
            Receives = false,
            SegmentationOffload = options.SegmentationOffload,
            ReportsFullQueue = reportsFullQueue,
        };
        return environment.OpenPort(port, receiver);
    }
}
