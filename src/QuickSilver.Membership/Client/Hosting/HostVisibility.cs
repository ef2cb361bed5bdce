using System.Net;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Diagnostics;

namespace QuickSilver.Membership.Client.Hosting;

// Whether a host can be found at all: discovery goes by multicast, and on a network that carries none each node hosts for itself.
//
// A host hears its own questions wherever multicast works on its machine, and sooner or later another node joins it or asks. If it does not
// hear its own questions, multicast is broken. If only the other nodes are missing, multicast may be broken, or there are none: only the
// operator can know. A node that all others have left in order is not reported.
internal sealed class HostVisibility(DiscoveryContext context, IPEndPoint service)
{
    // Questions of its own that a host sends before it expects to have heard one.
    private const int QuestionsUntilDeaf = 4;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    // It is tried again and again while it answers: longer than from one failure to the next.
    private static readonly TimeSpan NotReachedMemory = TimeSpan.FromSeconds(30);

    private readonly TimeSpan _since = context.Environment.Now;
    private readonly DateTimeOffset _sinceUtc = context.Environment.UtcNow;
    private readonly bool _isLeftAlone = context.IsLeftAlone;
    private volatile Trouble? _trouble;
    private int _questions;
    private bool _hearsItself;
    private bool _isFound;
    private bool _isLogged;
    private string? _refusal;
    // Another host that no stream reaches; null: none is known.
    private Trouble? _notReached;
    private TimeSpan _notReachedAt;

    /// <summary>Why others may not find this host; null: as far as is known they do. From any thread.</summary>
    public Trouble? Trouble => _trouble;

    /// <summary>A question, or what belongs to one, came over the group.</summary>
    public void OnHeard(bool isOwn)
    {
        _hearsItself |= isOwn;
        _isFound |= !isOwn;
    }

    /// <summary>Why the port at which others find this host cannot be opened; null: it is open.</summary>
    public void OnPort(string? refusal) => _refusal = refusal;

    /// <summary>Another host answers discovery, and no stream reaches it.</summary>
    public void OnNotReached(IPEndPoint host, string reason)
    {
        _notReachedAt = context.Environment.Now;
        _notReached = new Trouble(
            TroubleKind.HostNotReached,
            $"The node at {host} hosts the membership service of this cluster too, and this node cannot connect to it: "
                + $"{reason.TrimEnd('.')}.",
            _notReached?.Since ?? context.Environment.UtcNow,
            "a connection to it");
        _trouble = _notReached;
    }

    public void OnReached() => _notReached = null;

    /// <summary>Called before each question of its own.</summary>
    public void OnContest(int members)
    {
        _isFound |= members > 1;
        if (_notReached is not null && context.Environment.Now - _notReachedAt < NotReachedMemory)
        {
            return;
        }

        _notReached = null;
        bool isDeaf = !_hearsItself && !_isFound && _questions++ >= QuestionsUntilDeaf;
        bool isLoopback = IPAddress.IsLoopback(service.Address);
        bool isAlone = !_isFound && !_isLeftAlone && context.Environment.Now - _since >= Patience;
        string? trouble = _refusal is not null
            ? $"Discovery does not work: {_refusal.TrimEnd('.')}. Other nodes cannot find this node. {Advice}"
            : isDeaf
            ? $"Discovery does not work: this node does not receive its own datagrams to {context.Group}, "
                + $"so other nodes cannot find it. {Advice}"
            : isAlone && !isLoopback
                ? $"No other node has been found since this node started to host the membership service at {service}. {Advice}"
                : null;
        _trouble = trouble is null ? null : new Trouble(TroubleKind.NotDiscoverable, trouble, _sinceUtc, "other nodes to find it");
        if (trouble is not null && !_isLogged)
        {
            _isLogged = true;
            context.Logger.HostsAlone(trouble);
        }
        else if (isAlone && isLoopback && !_isLogged)
        {
            // A single program on its machine is normal, so this is not reported as a problem.
            _isLogged = true;
            context.Logger.HostsAloneOnLoopback(service);
        }
    }

    private static string Advice =>
        "If there are other nodes, the network does not carry multicast. Start a membership service (qsm gms) and "
        + "give all nodes its address in the option Membership:Servers.";
}
