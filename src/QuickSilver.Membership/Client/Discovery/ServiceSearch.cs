using System.Net;
using QuickSilver.Core.Alarms;

namespace QuickSilver.Membership.Client.Discovery;

// Looks for the service on the network for a program that only connects to it, until a connection is made.
//
// Several hosts may answer, and some of them may not be reached by a stream: a host behind a firewall, or one whose address is gone. Where
// nothing authenticates answers (certificates), the answer may also be a lie. So what failed is not tried again soon, and what says nothing
// makes way for the next as soon as another one answers. Where answers are authenticated, the first one is tried at once. Otherwise, being
// early must not count, and one of all that answer a question is taken by chance.
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
    // What is tried; null: nothing.
    private IPEndPoint? _tried;

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
        _tried = null;
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
            Try(_candidates.Take());
            return;
        }

        _asker.Ask(default);
        _context.Environment.Schedule(_next, _context.Options.AskInterval);
    }

    private void Try(IPEndPoint service)
    {
        _tried = service;
        _context.Environment.Schedule(_next, Turn);
        _onFound(service);
    }

    private void OnAnswer(DiscoveryDatagram answer)
    {
        var service = answer.EndPoint;
        if (service.Equals(_tried) || _failed.Has(service))
        {
            return;
        }

        if (_tried is null && !_context.NeedsProof)
        {
            Try(service);
        }
        else
        {
            _candidates.Add(service);
        }
    }
}
