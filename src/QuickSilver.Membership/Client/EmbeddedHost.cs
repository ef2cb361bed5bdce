using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;

namespace QuickSilver.Membership.Client;

// A membership service inside a node, and the answers by which others find it. Two nodes may begin to host in the same
// moment, or on two sides of a network that was torn: so a host looks for others, often at first and then now and again,
// and the one that began later sends its clients over to the older and ends.
internal sealed class EmbeddedHost : IDatagramReceiver, IDisposable
{
    private static readonly TimeSpan FirstContest = TimeSpan.FromMilliseconds(100);

    private readonly DiscoveryContext _context;
    private readonly MembershipService _service;
    private readonly HostIdentity _identity;
    private readonly DiscoveryAsker _asker;
    private readonly Alarm _contestAlarm;
    private readonly Action _onYielded;
    private TimeSpan _contestDelay = FirstContest;
    private IDatagramPort? _answers;
    private bool _isOver;

    public EmbeddedHost(DiscoveryContext context, MembershipServiceOptions options, Action onYielded)
    {
        _context = context;
        _onYielded = onYielded;
        var environment = context.Environment;
        _identity = new HostIdentity(environment.UtcNow.UtcTicks, environment.NextRandom() | 1);
        _asker = new DiscoveryAsker(context, OnAnswer);
        _contestAlarm = new Alarm(Contest);
        _service = new MembershipService(environment, options, new MemoryMembershipStore(), new ServiceCounters(), context.Logger);
        EndPoint = _service.Start(new IPEndPoint(environment.LocalAddress, 0));
        context.Counters.ServicesHosted++;
        context.Logger.Hosting(EndPoint);
        Contest();
    }

    public IPEndPoint EndPoint { get; }

    public MembershipService Service => _service;

    /// <summary>Ends the service; its clients are told to go to <paramref name="successor"/>, or to look for one.</summary>
    public void End(IPEndPoint? successor)
    {
        if (!_isOver)
        {
            StopAnswering();
            _service.Retire(successor);
        }
    }

    public void Dispose()
    {
        StopAnswering();
        _service.Dispose();
    }

    bool IDatagramReceiver.IsControl(ReadOnlySpan<byte> firstBytes) => true;

    void IDatagramReceiver.OnRun(in ReceivedRun run)
    {
        for (int at = 0; at < run.Length && !_isOver; at += DiscoveryDatagram.Bytes)
        {
            if (DiscoveryDatagram.TryRead(run.Span[at..], out var question)
                && !question.IsAnswer
                && question.ClusterHash == _context.ClusterHash)
            {
                Answer(question);
            }
            else
            {
                _context.Counters.ForeignDatagrams++;
            }
        }
    }

    void IDatagramReceiver.OnBatchEnd()
    {
    }

    private void Answer(in DiscoveryDatagram question)
    {
        if (question.Host.Id == _identity.Id)
        {
            return;
        }

        Span<byte> bytes = stackalloc byte[DiscoveryDatagram.Bytes];
        new DiscoveryDatagram(true, _context.ClusterHash, question.Nonce, _identity, EndPoint).Write(bytes);
        _context.Counters.QueriesAnswered++;
        _answers!.Send(bytes, bytes.Length, new DatagramAddress(question.EndPoint));
        if (question.Host.IsHost && question.Host.CompareTo(_identity) < 0)
        {
            // An older host is about: do not wait for the next contest to ask it where its service is.
            _asker.Ask(_identity);
        }
    }

    private void Contest()
    {
        OpenAnswers();
        _asker.Ask(_identity);
        var options = _context.Options;
        _context.Environment.Schedule(_contestAlarm, _contestDelay + _context.Jitter(_contestDelay / 4));
        _contestDelay = _contestDelay * 2 < options.ContestInterval ? _contestDelay * 2 : options.ContestInterval;
    }

    // Again with each contest while the system refuses: a host that nobody finds helps nobody.
    private void OpenAnswers()
    {
        if (_answers is not null)
        {
            return;
        }

        try
        {
            var options = _context.Options;
            _answers = _context.Environment.OpenPort(DiscoveryContext.SmallPort with { Group = options.Group, Port = options.Port }, this);
        }
        catch (TransportException refused)
        {
            _context.ReportFailure(refused.Message);
        }
    }

    private void OnAnswer(DiscoveryDatagram answer)
    {
        if (_isOver || answer.Host.Id == _identity.Id || answer.Host.CompareTo(_identity) >= 0)
        {
            return;
        }

        _context.Counters.HostsYielded++;
        _context.Logger.Yielding(answer.EndPoint);
        End(answer.EndPoint);
        _onYielded();
    }

    private void StopAnswering()
    {
        _isOver = true;
        _context.Environment.Cancel(_contestAlarm);
        _asker.Dispose();
        _answers?.Dispose();
        _answers = null;
    }
}
