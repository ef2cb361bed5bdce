using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Diagnostics;

namespace QuickSilver.Membership.Client.Servers;

// Resolves the names of the servers again. It returns without waiting. The answer comes on the core thread, exactly once. It is empty if
// nothing was found.
internal delegate void ServerResolution(Action<ImmutableArray<IPEndPoint>> completed);

// The servers of one service, as they were named: their addresses, and the one whose turn it is. Servers in containers come back at other
// addresses under the same names. So the names are resolved again while no server admits the node.
//
// A server to which another one sent the node, and which took it in, is tried as those that were named: they may all be down when that one
// closes the connection.
//
// Invariants: a list that was not empty never becomes empty, so a resolver that fails, or that finds nothing, takes no address away. One
// resolution runs at a time. An address that stays keeps its place before those that are new. Changed on the core thread only; All is read
// from any thread.
internal sealed class NamedServers(ImmutableArray<IPEndPoint> servers, ServerResolution? resolution)
{
    /// <summary>Between two resolutions, so that many nodes without a service do not flood a name server.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    // The leader may be at another address each time. The servers that were named are not counted.
    private const int MostLearned = 4;

    private TimeSpan _resolvedAt = TimeSpan.MinValue / 2;
    private bool _isResolving;
    // Of All, the last ones.
    private int _learned;
    private int _next;
    private volatile Trouble? _trouble;

    /// <summary>
    /// That these servers are not of one service, or that it makes no changes; null: there is no trouble. From any thread.
    /// </summary>
    public Trouble? Trouble => _trouble;

    /// <summary>Empty: no servers are named, and a service is looked for on the network.</summary>
    public ImmutableArray<IPEndPoint> All { get; private set; } = servers;

    /// <summary>The server that is tried next; those that follow take their turns.</summary>
    public IPEndPoint TakeNext()
    {
        var server = All[_next];
        _next = (_next + 1) % All.Length;
        return server;
    }

    /// <summary>A server took the node in, which may have been named by another one only.</summary>
    public void OnWelcome(IPEndPoint server)
    {
        if (All.IsEmpty || All.Contains(server))
        {
            return;
        }

        if (_learned == MostLearned)
        {
            All = All.RemoveAt(All.Length - MostLearned);
            _learned--;
        }

        All = All.Add(server);
        _learned++;
        _next %= All.Length;
    }

    /// <summary>
    /// The server that took the node in says whether it shares anything with others. If not, each is a cluster of its own, and the order in
    /// which a node tries them decides which of them it is in.
    /// </summary>
    public void OnWelcome(IPEndPoint? server, bool leadsAlone, DateTimeOffset now, ILogger logger)
    {
        int named = All.Length - _learned;
        if (!leadsAlone || named < 2)
        {
            _trouble = null;
        }
        else if (_trouble is null)
        {
            string what = $"{named} addresses of membership servers are named, and the server at {server}, which took this node in, shares "
                + "nothing with other servers. Nodes that reach another server are in another cluster.";
            _trouble = new Trouble(TroubleKind.ServersApart, what, now);
            logger.ServersApart(what);
        }
    }

    /// <summary>The server that has this node cannot make changes, for this reason; empty: it makes changes again.</summary>
    public void OnWaiting(string reason, DateTimeOffset now, ILogger logger)
    {
        if (reason.Length == 0)
        {
            _trouble = _trouble?.Kind == TroubleKind.ChangesWait ? null : _trouble;
            return;
        }

        string what = $"The membership service cannot make changes: {reason} No node joins or leaves, no topic opens, and no failed node "
            + "is removed.";
        if (_trouble?.Kind != TroubleKind.ChangesWait || _trouble.Description != what)
        {
            var since = _trouble is { Kind: TroubleKind.ChangesWait } known ? known.Since : now;
            _trouble = new Trouble(TroubleKind.ChangesWait, what, since);
            logger.ServiceWaits(what);
        }
    }

    /// <summary>Each server was tried, and none took the node in.</summary>
    public void OnAllFailed(TimeSpan now)
    {
        if (resolution is null || _isResolving || now - _resolvedAt < Interval)
        {
            return;
        }

        (_isResolving, _resolvedAt) = (true, now);
        resolution(OnResolved);
    }

    private void OnResolved(ImmutableArray<IPEndPoint> found)
    {
        _isResolving = false;
        if (found.IsEmpty)
        {
            return;
        }

        var next = All[_next];
        var stay = All.RemoveAll(server => !found.Contains(server));
        All = [.. stay, .. found.Distinct().Except(stay)];
        _learned = 0;
        // The known ones have just failed, so a new one comes first.
        _next = All.Length > stay.Length ? stay.Length : Math.Max(0, All.IndexOf(next));
    }
}
