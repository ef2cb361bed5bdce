using System.Net;
using QuickSilver.Core.Alarms;

namespace QuickSilver.Membership.Client;

// Looks for the service on the network for somebody who only connects to it, until a connection is made.
//
// Where nothing authenticates answers (certificates), whoever answers first may lie. So of all that answer a question one after another is
// tried, by chance; what failed is not tried again soon, and what says nothing makes way for the next.
internal sealed class ServiceSearch : IDisposable
{
    // A service on a busy machine needs longer for a handshake, and is tried again when it answers again.
    private static readonly TimeSpan Turn = TimeSpan.FromSeconds(1);

    private readonly DiscoveryContext _context;
    private readonly Action<IPEndPoint> _onFound;
    private readonly DiscoveryAsker _asker;
    private readonly HostCandidates _candidates;
    private readonly RecentFailures _failed;
    private readonly Alarm _next;

    public ServiceSearch(DiscoveryContext context, Action<IPEndPoint> onFound)
    {
        _context = context;
        _onFound = onFound;
        _asker = new DiscoveryAsker(context, OnAnswer);
        _candidates = new HostCandidates(context.Environment);
        _failed = new RecentFailures(context.Environment);
        _next = new Alarm(GoOn);
    }

    /// <summary>Asks the network. The callback may come several times, until this is disposed of.</summary>
    public void Begin() => GoOn();

    /// <summary>No connection was made to the one that was found.</summary>
    public void OnFailed(IPEndPoint service)
    {
        _failed.Add(service);
        GoOn();
    }

    public void Dispose()
    {
        _context.Environment.Cancel(_next);
        _asker.Dispose();
    }

    private void GoOn()
    {
        if (_candidates.Count > 0)
        {
            _context.Environment.Schedule(_next, Turn);
            _onFound(_candidates.Take());
            return;
        }

        _asker.Ask(default);
        _context.Environment.Schedule(_next, _context.Options.AskInterval);
    }

    private void OnAnswer(DiscoveryDatagram answer)
    {
        if (!_context.NeedsProof)
        {
            _onFound(answer.EndPoint);
        }
        else if (!_failed.Has(answer.EndPoint))
        {
            _candidates.Add(answer.EndPoint);
        }
    }
}
