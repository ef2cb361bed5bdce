using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Dissemination;

// The ports through which a node sends its streams, and the way that each view's packets take.
internal sealed class SendingPorts(INodeEnvironment environment, MulticastOptions options, IDatagramReceiver receiver) : IDisposable
{
    private readonly IDatagramPort _port = Open(environment, options, receiver, tellsFullQueue: !options.Unicast);
    // Opened when the first copy is to be sent. It is not told of a full queue: with that a system also tells of members that
    // are gone, as if a send had failed.
    private IDatagramPort? _copies;

    public int MaxRunSegments => _port.MaxRunSegments;

    public IRegionPath PathTo(RegionView view, NodeDirectory directory)
    {
        if (options.Unicast)
        {
            return new UnicastFanOut(_port, view, directory);
        }

        return view.Group is { } group
            ? new MulticastPath(_port, group)
            : new UnicastFanOut(_copies ??= TryOpenCopies() ?? _port, view, directory);
    }

    public void Dispose()
    {
        _port.Dispose();
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
