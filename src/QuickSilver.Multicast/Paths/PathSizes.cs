using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Paths;

// How large a packet on the wire may be, and to whom: the only place that says so. A tunnel, an overlay network or an interface may carry
// less than the option PacketBytes, and may drop what is larger without a notice.
//
// Intuition: no message of the network is trusted, because many networks send none. Only the echoes that come back count (RFC 8899, packet
// layer path MTU discovery). An echo and its reply are equally large, so both directions are tried at once.
//
// A path is checked while a stream sends to its member, every second, and at once if the system refuses to send, or the member asks again
// for a packet that was sent to it again, or does not answer probes. A check is one echo. If it does not come back but a small one does, a
// search finds the largest size that does. Its result is reported to the member, whose path has the same size. Growth is tried
// after 5 s, and then ever more seldom.
//
// Invariant: a size is between MinPacketBytes and the option. A member that answers nothing keeps the size it had: it is for the membership
// service to say that it is dead.
internal sealed class PathSizes(NodeContext context)
{
    // So many paths at most are checked in a second because a stream sends, so a stream to hundreds of members costs no more.
    private const int ChecksPerSecond = 32;
    private const int SuspicionsPerSecond = 64;
    // The number of echoes whose replies are still recognized.
    private const int Remembered = 1024;
    private const int MostPaths = 4096;
    // So many packets in a row are rarely lost one by one.
    private const int ManyPackets = 16;

    // Of jumbo frames, Ethernet, PPPoE, tunnels over IPv4 and IPv6, overlay networks, WireGuard, and the least of IPv6 and of IPv4.
    private static readonly int[] Mtus = [9000, 4500, 1500, 1492, 1480, 1450, 1420, 1400, 1350, 1280, 1006];

    private readonly Dictionary<IPEndPoint, PathSearch> _paths = [];
    // Null until the first echo.
    private (PathSearch? Search, int Bytes)[]? _asked;
    private readonly long _base = (long)(context.Environment.NextRandom() >> 2);
    private readonly object _trouble = new();
    private RateLimit? _checks;
    private RateLimit? _suspicions;
    private long _sent;
    private int _nextRank;
    private bool _isClosed;

    public NodeContext Context => context;

    /// <summary>The number of paths that are known.</summary>
    public int Count => _paths.Count;

    /// <summary>The smallest size of any path.</summary>
    public int Smallest { get; private set; } = context.Options.PacketBytes;

    /// <summary>Changes whenever a size does.</summary>
    public int Version { get; private set; }

    /// <summary>The sizes below the option that are tried, in ascending order, and the option.</summary>
    public int[] Steps { get; } = StepsOf(context.Options.PacketBytes, HeadersOf(context));

    private bool IsAnySmall => Smallest < context.Options.PacketBytes;

    /// <summary>The largest packet for a node at this address.</summary>
    public int To(DatagramAddress to) =>
        IsAnySmall && _paths.TryGetValue(to.EndPoint, out var path) ? path.Usable : context.Options.PacketBytes;

    /// <summary>The largest packet that reaches all of these members.</summary>
    public int Of(LiveMembers live)
    {
        int least = context.Options.PacketBytes;
        for (int rank = 0; IsAnySmall && rank < live.Ranks; rank++)
        {
            if (live.IsLive(rank) && live[rank] != context.Self && context.Directory.Find(live[rank]) is { } address)
            {
                least = Math.Min(least, To(address));
            }
        }

        return least;
    }

    /// <summary>A stream sends to these members, or may not: paths that were not checked lately are.</summary>
    public void Check(LiveMembers live, bool isRefused = false)
    {
        _checks ??= new RateLimit(context.Environment.Now, ChecksPerSecond, ChecksPerSecond);
        for (int i = 0; i < live.Ranks; i++)
        {
            int rank = (int)((uint)_nextRank++ % (uint)live.Ranks);
            if (!live.IsLive(rank) || live[rank] == context.Self || context.Directory.Find(live[rank]) is not { } address)
            {
                continue;
            }

            var path = PathTo(address);
            if (isRefused ? path.MaySuspect(context.Environment.Now) : path.IsCheckDue(context.Environment.Now))
            {
                if (!_checks.TryTake(context.Environment.Now, 1))
                {
                    _nextRank--;
                    return;
                }

                path.Check(isRefused);
            }
        }
    }

    /// <summary>The node at this address lacks so many packets in a row: if they were large, that may be why.</summary>
    public void SuspectIfMany(DatagramAddress to, long packets)
    {
        if (packets >= ManyPackets)
        {
            Suspect(to);
        }
    }

    /// <summary>Something large may not have reached the node at this address.</summary>
    public void Suspect(DatagramAddress to)
    {
        var now = context.Environment.Now;
        var path = PathTo(to);
        _suspicions ??= new RateLimit(now, SuspicionsPerSecond, SuspicionsPerSecond);
        if (path.MaySuspect(now) && _suspicions.TryTake(now, 1))
        {
            path.Check(isSuspected: true);
        }
    }

    /// <summary>A member has found how large the packets of the path between it and this node may be.</summary>
    public void Learn(NodeKey member, IPEndPoint at, int bytes)
    {
        if (context.Directory.Find(member) is { } address && address.EndPoint.Equals(at) && bytes >= NodeOptions.MinPacketBytes)
        {
            PathTo(address).Learn(bytes);
        }
    }

    /// <summary>
    /// The node at this address is not a member any more. The state of the path is kept if another node is there, which has the same
    /// path.
    /// </summary>
    public void OnNodeGone(IPEndPoint at)
    {
        if (!_paths.TryGetValue(at, out var path))
        {
            return;
        }

        if (path.IsAtRest)
        {
            path.Close();
            _paths.Remove(at);
        }
        else if (!context.Directory.HasMemberAt(at))
        {
            path.Close();
            Forget(path);
        }
    }

    /// <summary>Returns Duplicate if it is the reply to no echo of a search.</summary>
    public DropReason OnReply(in PacketHeader reply)
    {
        long number = reply.Sequence - _base;
        if (number < 0 || number >= _sent || number < _sent - Remembered
            || _asked?[number % Remembered] is not { Search: { } search } asked)
        {
            return DropReason.Duplicate;
        }

        _asked[number % Remembered] = default;
        search.OnReply(asked.Bytes);
        return DropReason.None;
    }

    public void Close()
    {
        _isClosed = true;
        foreach (var path in _paths.Values)
        {
            path.Close();
        }
    }

    /// <param name="search">Gets the reply.</param>
    /// <param name="to">The node.</param>
    /// <param name="bytes">The size of the echo.</param>
    /// <param name="found">What a search has found, for the node to know; 0: nothing to report.</param>
    internal void Send(PathSearch search, DatagramAddress to, int bytes, int found = 0)
    {
        if (_isClosed)
        {
            return;
        }

        var packet = context.Scratch.FullPacket.AsSpan(0, bytes);
        EchoPacket.Write(packet, context.Template(), _base + _sent, context.ControlPort.LocalEndPoint, found);
        (_asked ??= new (PathSearch?, int)[Remembered])[_sent % Remembered] = (search, bytes);
        _sent++;
        context.SendControl(packet, to);
        context.Counters.PathProbes++;
    }

    internal void OnChange(PathSearch path, int before)
    {
        Sum();
        if (path.Bytes < before)
        {
            MulticastLog.PathShrunk(context.Log, path.EndPoint, path.Bytes, context.Options.PacketBytes);
        }
        else
        {
            MulticastLog.PathGrew(context.Log, path.EndPoint, path.Bytes, context.Options.PacketBytes);
        }
    }

    /// <summary>A search has begun, or has found something.</summary>
    internal void OnSearch()
    {
        int usable = Smallest;
        SumUsable();
        // A stream to a node whose size is between asks too.
        if (usable != Smallest || IsAnySmall)
        {
            Version++;
        }
    }

    private void Sum()
    {
        Version++;
        SumUsable();
        int small = 0;
        int smallest = context.Options.PacketBytes;
        foreach (var one in _paths.Values)
        {
            smallest = Math.Min(smallest, one.Bytes);
            small += one.Bytes < context.Options.PacketBytes ? 1 : 0;
        }

        context.Counters.SmallPaths = small;
        context.Counters.SmallestPathBytes = smallest;
        Report(small, smallest);
    }

    private void SumUsable()
    {
        Smallest = context.Options.PacketBytes;
        foreach (var one in _paths.Values)
        {
            Smallest = Math.Min(Smallest, one.Usable);
        }
    }

    private void Report(int small, int smallest)
    {
        if (small == 0)
        {
            context.Troubles.End(_trouble);
            return;
        }

        var narrow = _paths.Values.Where(one => one.Bytes == smallest)
            .MinBy(static one => one.EndPoint.ToString(), StringComparer.Ordinal)!;
        string nodes = Counted.Of(small, "node");
        // The option counts what sealing adds.
        int most = smallest + context.Options.DatagramBytes - context.Options.PacketBytes;
        string what = $"Packets of {context.Options.DatagramBytes} bytes (PacketBytes) do not pass between this node and {nodes}, for "
            + $"example the one at {narrow.EndPoint}, but packets of {most} bytes do. "
            + "This node sends smaller packets in the regions of these.";
        context.Troubles.Begin(_trouble, new Trouble(TroubleKind.PathTooSmall, what, context.Environment.UtcNow));
    }

    /// <summary>The state of the path is removed. The path is checked like a new one if the node comes back.</summary>
    internal void Forget(PathSearch path)
    {
        _paths.Remove(path.EndPoint);
        Sum();
    }

    private PathSearch PathTo(DatagramAddress to)
    {
        if (_paths.TryGetValue(to.EndPoint, out var path))
        {
            return path;
        }

        if (_paths.Count >= MostPaths)
        {
            foreach (var (at, one) in _paths.Where(static one => one.Value.IsAtRest).ToArray())
            {
                one.Close();
                _paths.Remove(at);
            }
        }

        path = new PathSearch(this, to);
        _paths.Add(to.EndPoint, path);
        return path;
    }

    // Of IP and UDP, and what a sealed packet has more on the wire.
    private static int HeadersOf(NodeContext context) =>
        (context.Environment.LocalAddress.AddressFamily == AddressFamily.InterNetworkV6 ? 48 : 28)
        + (context.Options.IsSealed ? SealedPacket.TrailerBytes : 0);

    private static int[] StepsOf(int packetBytes, int headerBytes) =>
    [
        NodeOptions.MinPacketBytes,
        .. Mtus.Select(mtu => mtu - headerBytes).Where(size => size < packetBytes && size > NodeOptions.MinPacketBytes).Order(),
        .. packetBytes > NodeOptions.MinPacketBytes ? [packetBytes] : Array.Empty<int>(),
    ];
}
