using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Stores;

namespace QuickSilver.Membership.Client.Hosting;

// A membership service inside a node, and the answers by which others find it. Two nodes may begin to host in the same moment, or on two
// sides of a divided network. So a host looks for others, often at first and then rarely. Of two hosts that meet, one continues. The other
// one sends its clients over and ends.
//
// What goes wrong: how hosts stand changes while they talk, and each of two could yield to the other. So of each two the one
// with the smaller id decides, from how it stood when it asked and how the other stood when it answered: it yields, or it
// claims, and then the other yields. The token of the answer comes back with the claim: a claim that is late, or that answers
// an older question, is none.
//
// A host yields only to one that it reaches by a stream (HostProofs): its nodes are to go there. From its decision until it knows that, it
// neither claims nor lets the other one yield to it. With certificates, datagrams are not authenticated. Then they say only where another
// host may be, and this one yields to what that proves.
internal sealed class EmbeddedHost : IDatagramReceiver, IDisposable
{
    private static readonly TimeSpan FirstContest = TimeSpan.FromMilliseconds(100);
    // A stream is made, and its first question answered, in less time. A host that takes longer does not hold up the contest.
    private static readonly TimeSpan YieldLimit = TimeSpan.FromSeconds(5);
    // The least time between two questions, from all causes together.
    private static readonly TimeSpan AskSpacing = TimeSpan.FromMilliseconds(50);

    private readonly DiscoveryContext _context;
    private readonly MembershipService _service;
    private readonly ulong _id;
    private readonly DiscoveryAsker _asker;
    private readonly Alarm _contestAlarm;
    private readonly Action _onYielded;
    private readonly HostVisibility _alone;
    private readonly HostProofs _proofs;
    private TimeSpan _contestDelay = FirstContest;
    private TimeSpan? _askedAt;
    // From the last question.
    private HostStanding _asked;
    // How this host stood when it last answered one that decides, and what a claim must repeat.
    private (ulong Asker, ulong Token, HostStanding Own) _offer;
    private IDatagramPort? _answers;
    // The host to which this one has decided to yield, while it is not known whether a stream reaches it.
    private IPEndPoint? _yieldsTo;
    private TimeSpan _decidedAt;
    private bool _isOver;

    /// <param name="context">What it shares with the node's search for a service.</param>
    /// <param name="options">Of the service.</param>
    /// <param name="known">The last configuration that this node has; 0 when it has none.</param>
    /// <param name="failed">Services that this node failed to reach a moment ago.</param>
    /// <param name="onYielded">Called when another host continues in place of this one.</param>
    public EmbeddedHost(DiscoveryContext context, MembershipServiceOptions options, long known, RecentFailures failed, Action onYielded)
    {
        _context = context;
        _onYielded = onYielded;
        var environment = context.Environment;
        _id = environment.NextRandom() | 1;
        _asker = new DiscoveryAsker(context, OnAnswer);
        _contestAlarm = new Alarm(Contest);
        _proofs = new HostProofs(context, options.Cluster, failed, OnProved, OnNotReached);
        var hosted = options with { TakesBackTheSilent = true, HostId = _id };
        _service = new MembershipService(environment, hosted, new MemoryMembershipStore(), new ServiceCounters(), context.Logger);
        EndPoint = _service.Start(new IPEndPoint(environment.LocalAddress, 0), known);
        _alone = new HostVisibility(context, EndPoint);
        context.Counters.ServicesHosted++;
        context.Logger.Hosting(EndPoint);
        Contest();
    }

    public IPEndPoint EndPoint { get; }

    public MembershipService Service => _service;

    /// <summary>Why others may not find it; null: as far as is known they do. From any thread.</summary>
    public Trouble? Trouble => _alone.Trouble;

    private HostStanding Standing => _service.Standing;

    private bool IsYielding => _yieldsTo is not null && _context.Environment.Now - _decidedAt < YieldLimit;

    /// <summary>Ends the service. Its clients are sent to <paramref name="successor"/>, or have to look for one.</summary>
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
        for (int at = 0; at < run.Length && !_isOver; at += DiscoverySeal.LengthOf(run.Span[at..]))
        {
            if (!_context.TryRead(run.Span[at..], out var datagram))
            {
                continue;
            }

            _alone.OnHeard(isOwn: datagram.Host.Id == _id);
            if (datagram.Host.Id == _id)
            {
                continue;
            }

            switch (datagram.Kind)
            {
                case DiscoveryKind.Question:
                    OnQuestion(datagram);
                    break;
                case DiscoveryKind.Claim:
                    OnClaim(datagram);
                    break;
                default:
                    _context.Counters.ForeignDatagrams++;
                    break;
            }
        }
    }

    void IDatagramReceiver.OnBatchEnd()
    {
    }

    private void OnQuestion(in DiscoveryDatagram question)
    {
        ulong token = 0;
        if (question.Host.Id > _id)
        {
            // It is for this host to decide, and not before the next contest.
            Ask();
            return;
        }

        if (question.Host.IsHost && IsYielding)
        {
            return;
        }

        var own = Standing;
        if (question.Host.IsHost)
        {
            token = _context.Environment.NextRandom();
            _offer = (question.Host.Id, token, own);
        }

        // Of the length of the question, and by the key of the question, which the asker has.
        var answer = new DiscoveryDatagram(DiscoveryKind.Answer, _context.ClusterHash, question.Nonce, own, EndPoint, token)
        {
            Key = question.Key,
        };
        Span<byte> bytes = stackalloc byte[DiscoverySeal.MostBytes];
        int length = _context.Write(answer, bytes);
        _context.Counters.QueriesAnswered++;
        _answers!.Send(bytes[..length], length, new DatagramAddress(question.EndPoint));
    }

    private void OnAnswer(DiscoveryDatagram answer)
    {
        if (_isOver || IsYielding || answer.Host.Id <= _id)
        {
            return;
        }

        if (answer.Host.GoesOnBefore(_asked))
        {
            YieldTo(answer.EndPoint);
            return;
        }

        _asker.Send(answer with { Kind = DiscoveryKind.Claim, Host = _asked, EndPoint = EndPoint });
    }

    private void OnClaim(in DiscoveryDatagram claim)
    {
        if (claim.Host.Id == _offer.Asker && claim.Token == _offer.Token && claim.Host.GoesOnBefore(_offer.Own))
        {
            YieldTo(claim.EndPoint);
        }
    }

    private void YieldTo(IPEndPoint host)
    {
        if (_context.NeedsProof)
        {
            _proofs.Ask(host);
        }
        else if (!IsYielding && !_proofs.HasFailed(host))
        {
            (_yieldsTo, _decidedAt) = (host, _context.Environment.Now);
            _proofs.Ask(host);
        }
    }

    // With certificates, each of two hosts decides alike from what both prove, and ignores what datagrams claim. Otherwise it is decided.
    private void OnProved(IPEndPoint host, HostStanding standing)
    {
        _alone.OnReached();
        bool yields = _context.NeedsProof ? standing.GoesOnBefore(Standing) : IsYielding && host.Equals(_yieldsTo);
        _yieldsTo = host.Equals(_yieldsTo) ? null : _yieldsTo;
        if (standing.IsHost && yields)
        {
            Yield(host);
        }
    }

    private void OnNotReached(IPEndPoint host, string reason)
    {
        _yieldsTo = host.Equals(_yieldsTo) ? null : _yieldsTo;
        if (!_context.NeedsProof)
        {
            _alone.OnNotReached(host, reason);
        }
    }

    private void Yield(IPEndPoint successor)
    {
        _context.Counters.HostsYielded++;
        _context.Logger.Yielding(successor);
        End(successor);
        _onYielded();
    }

    private void Contest()
    {
        OpenAnswers();
        _alone.OnContest(_service.MemberCount);
        Ask();
        var options = _context.Options;
        _context.Environment.Schedule(_contestAlarm, _contestDelay + _context.Jitter(_contestDelay / 4));
        _contestDelay = _contestDelay * 2 < options.ContestInterval ? _contestDelay * 2 : options.ContestInterval;
    }

    private void Ask()
    {
        var now = _context.Environment.Now;
        if (IsYielding || (_askedAt is { } last && now - last < AskSpacing))
        {
            return;
        }

        _askedAt = now;
        _asked = Standing;
        _asker.Ask(_asked);
    }

    // Again with each contest while the system refuses: a host that is not found is useless.
    private void OpenAnswers()
    {
        if (_answers is not null)
        {
            return;
        }

        try
        {
            var group = _context.Group;
            _answers = _context.Environment.OpenPort(DiscoveryContext.SmallPort with { Group = group.Address, Port = group.Port }, this);
            _alone.OnPort(refusal: null);
        }
        catch (TransportException refused)
        {
            _context.ReportFailure(refused.Message);
            _alone.OnPort(refused.Message);
        }
    }

    private void StopAnswering()
    {
        _isOver = true;
        _context.Environment.Cancel(_contestAlarm);
        _asker.Dispose();
        _proofs.Dispose();
        _answers?.Dispose();
        _answers = null;
    }
}
