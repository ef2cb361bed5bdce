using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Publishing;
using QuickSilver.Topics.Grants;
using QuickSilver.Topics.Subscribers;

namespace QuickSilver.Topics;

// One topic of one node, shared by all its endpoints. The union of their access is requested from the membership service, and one sender
// and one receiver serve them all. Core thread only, unless stated otherwise.
internal sealed partial class TopicCore : EndpointTopic, IDeliverySink
{
    // Null while there are none.
    private List<TopicOpening>? _openings;
    // Null while the application does not ask for the subscribers.
    private SubscriberInterest? _interest;
    private TopicEndpoint[] _endpoints = [];
    // The elements of _endpoints and _openings that subscribe. One that is opening takes messages from the first view on.
    private TopicEndpoint[] _subscribers = [];
    private TopicPublisher? _publisher;
    private ITopicReceiver? _receiver;
    private TopicGrant _grant;
    // Null until something is lost, or waits for memory: most topics have none of it, and there are thousands of them.
    private TopicMishaps? _mishaps;

    public TopicCore(ITopicNode node, string name, ulong id, ContractDescription contract)
        : base(node.Environment, name)
    {
        Node = node;
        Id = id;
        Contract = contract;
    }

    public override ITopicNode Node { get; }

    public ulong Id { get; }

    public override TopicPublisher Publisher =>
        _publisher ??= new TopicPublisher(Node.Environment, Node.CounterCells, Node.PublishBudget, Node.Intake, Node.Latency)
        {
            Refused = OnTooLarge,
        };

    public IReadOnlyList<TopicEndpoint> Endpoints => _endpoints;

    /// <summary>The messages of this node that were sent, and those of others that were delivered here, for vital signs.</summary>
    public long Published => _publisher?.Count ?? 0;

    public long Delivered => _receiver?.Taken ?? 0;

    /// <summary>The messages that gap notices reported, but for what readers' buffers dropped. It does not fall.</summary>
    public long Lost => _mishaps?.Messages ?? 0;

    /// <summary>What keeps the topic from sending.</summary>
    public SendLimit SendLimit => Readings.Of(_publisher?.Limit ?? StreamLimit.Idle);

    /// <summary>The endpoints that are not open yet, but for the postponed ones.</summary>
    public IReadOnlyList<TopicOpening> Openings => _openings ?? (IReadOnlyList<TopicOpening>)[];

    /// <summary>The endpoints that open when the node has left the topic's view.</summary>
    public IReadOnlyList<TopicOpening> Postponed => _departures?.Postponed ?? (IReadOnlyList<TopicOpening>)[];

    /// <summary>Whether the service has not answered yet.</summary>
    public bool IsAsking => _grant.IsAsking;

    /// <summary>Whether the service has granted the topic with its contract.</summary>
    public bool IsDecided => _endpoints.Length > 0 || _grant.Role != TopicRole.None;

    private TopicMishaps MishapsOrNew => _mishaps ??= new TopicMishaps();

    private ITopicProtocol Protocol => Node.ProtocolOf(Contract.Guarantee);

    private ProtocolTopic Opened => new(Id, Name, Contract, Node.SettingsOf(Id));

    public void Join(TopicOpening opening)
    {
        if (ContractMatch.Difference(Name, Contract, opening.Contract) is not null)
        {
            Node.Contested.Add(opening);
            return;
        }

        if (IsLeavingView && opening.Endpoint.Subscribes)
        {
            // No receiver may begin in the middle of a view, and the one that is open ends soon.
            _departures!.Postponed.Add(opening);
            Node.OnWait();
            return;
        }

        (_openings ??= new List<TopicOpening>(1)).Add(opening);
        OnMembersChanged();
        AskIfNeeded();
        if (_openings is not null)
        {
            Node.OnWait();
        }
    }

    public override void Leave(TopicEndpoint endpoint)
    {
        EndLeave(endpoint);
        if (Array.IndexOf(_endpoints, endpoint) >= 0)
        {
            string? waitsFor = WhyWaiting;
            _endpoints = [.. _endpoints.Where(other => other != endpoint)];
            endpoint.Publication?.LeaveIntake();
            ShrinkToMembers();
            ReportDrops(endpoint, endpoint.EndReason ?? AfterDispose.OfTopic(Name), waitsFor);
        }
    }

    public void OnView(TopicView view)
    {
        _grant.OnView(view.Subscribed);
        Subscribers = view.Subscribers;
        MostBytes = _publisher?.MostBytes ?? long.MaxValue;
        CompleteOpenings();
        _interest?.OnSubscribers();
        _interest = _interest is { IsIdle: true } ? null : _interest;
    }

    /// <summary>The calls that wait for subscribers. A cancelled one is removed at the next call. Core thread.</summary>
    public IReadOnlyList<SubscriberWait> SubscriberWaits => _interest?.Waits ?? [];

    public override ISubscriberInterest Interest => _interest ??= new SubscriberInterest(Node, this);

    protected override void OnSignal()
    {
        foreach (var endpoint in _subscribers)
        {
            if (endpoint.Subscription is { Watch: { } watch } subscription && subscription.CanAccept(0))
            {
                watch.OnRoom();
            }
        }

        _receiver?.Resume();
    }

    private bool IsEcho(TopicEndpoint endpoint, in DeliveredMessage message) =>
        endpoint.Subscription!.SkipsOwn && Node.IsSelf(message.Sender);

    public IDirectSink? Direct => _subscribers is [var only] ? only.Subscription!.Direct : null;

    public void OnGap(in TopicGap gap)
    {
        CountLost(gap.Last - gap.First + 1);
        var reason = GapReasons.Of(gap.Reason);
        var sender = new NodeId(gap.Sender.Id, gap.Sender.Incarnation);
        ApiLog.GapReported(Node.Log, Name, Node.Named(sender), gap.First, gap.Last, reason.InWords());
        var notice = new GapNotice(sender, gap.First, gap.Last, reason);
        foreach (var endpoint in _subscribers)
        {
            endpoint.Subscription!.AcceptGap(notice);
            if (_departures is not null)
            {
                NoteTaken(endpoint, gap.Sender, gap.Last);
            }
        }
    }

    // Each reason of a gap is counted in one place: ReaderFull by the endpoint as a drop, and every other one here. A message that several
    // endpoints miss for one reason counts once.
    private void CountLost(long messages)
    {
        MishapsOrNew.Messages += messages;
        Node.CounterCells.Gaps += messages;
    }

    private void CountLost(GapNotice[] untaken)
    {
        if (untaken.Length > 0)
        {
            CountLost(untaken.Sum(static gap => gap.Count));
        }
    }

    public override void OnEndpointEnded(TopicEndpoint endpoint, Exception reason)
    {
        endpoint.Subscription?.Watch?.OnRoom();
        _interest?.OnEndpointEnded(endpoint, reason);
        string? waitsFor = WhyWaiting;
        _publisher?.OnEndpointEnded();
        ReportDrops(endpoint, reason, waitsFor);
    }

    private string? WhyWaiting => _publisher is { HasSender: true } ? Node.WhyWaiting(Id) : null;

    private void ReportDrops(TopicEndpoint endpoint, Exception reason, string? waitsFor)
    {
        if (endpoint.Publication?.TakeDrops() is > 0 and var messages)
        {
            Node.PublishLosses.OnDropped(Name, messages, reason, waitsFor);
        }
    }

    /// <summary>This publisher's messages are refused. What was accepted before is still sent.</summary>
    public void Hold(TopicEndpoint endpoint, ServiceLoss loss)
    {
        if (endpoint.Publication is { Loss: null } publication)
        {
            publication.Loss = loss;
            _publisher?.Gate.FailLine(publication, loss.Of(Name));
        }
    }

    /// <summary>All publishers' messages are accepted again.</summary>
    public void Release()
    {
        foreach (var endpoint in _endpoints)
        {
            if (endpoint.Publication is { Loss: not null } publication)
            {
                publication.OnServiceBack();
            }
        }
    }

    public void OnNodeFailed(Exception reason)
    {
        Node.Contested.Fail(this, reason);
        foreach (var opening in _departures?.Postponed ?? [])
        {
            (_openings ??= []).Add(opening);
        }

        _departures?.Postponed.Clear();
        foreach (var opening in _openings ?? [])
        {
            opening.Endpoint.OnFailed(reason);
            opening.Fail(reason);
        }

        _openings = null;
        HandOver();
        foreach (var endpoint in _endpoints)
        {
            endpoint.OnFailed(reason);
        }
    }

    public override void OnHandlerFault(Exception exception, NodeId sender, long sequence) =>
        TopicFaults.OnHandler(Node, Name, exception, sender, sequence);

    public override void OnObserverFault(Exception exception) => TopicFaults.OnObserver(Node, Name, exception);

    public override void OnFeedFault(Exception exception) => TopicFaults.OnFeed(Node, Name, exception);

    private void OnTooLarge(int bytes, long limit)
    {
        long times = ++MishapsOrNew.TooLarge;
        TopicFaults.OnTooLarge(Node, Name, bytes, limit, times);
    }

    public override void OnDecodeFault(Exception exception, NodeId sender, long sequence)
    {
        // The endpoints of a topic get a message one after the other, before any gets the next one.
        if (MishapsOrNew.TryNoteUndecodable(sender, sequence))
        {
            CountLost(1);
        }

        TopicFaults.OnDecode(Node, Name, exception, sender, sequence);
    }

    private TopicRole WantedRole()
    {
        var role = TopicRole.None;
        foreach (var opening in _openings ?? [])
        {
            role |= opening.Role;
        }

        return role | RoleOfEndpoints();
    }

    private TopicRole RoleOfEndpoints()
    {
        var role = TopicRole.None;
        foreach (var endpoint in _endpoints)
        {
            role |= (TopicRole)endpoint.Access;
        }

        return IsLeavingView ? role & ~TopicRole.Subscribe : role;
    }

    private TopicRole RoleToAskFor() =>
        _grant.RoleToAskFor(RoleOfEndpoints(), _openings?.Select(static opening => opening.Role) ?? []);

    // Sender and receiver are opened before the service is asked, so that no message of the first view is missed.
    private void OnMembersChanged()
    {
        var members = _endpoints.Concat((_openings ?? []).Select(opening => opening.Endpoint));
        _subscribers = [.. members.Where(endpoint => endpoint.Subscribes)];
        foreach (var endpoint in _subscribers)
        {
            endpoint.Subscription!.SetAlone(_subscribers.Length == 1);
        }

        var wanted = WantedRole();
        if ((wanted & TopicRole.Publish) == 0)
        {
            if (_publisher is { HasSender: true })
            {
                Node.OnCountEnds(this, isSender: true);
                Node.PublishLosses.OnClosed(Id, Name, _publisher.IsStable);
            }

            _publisher?.Close(AfterDispose.OfTopic(Name));
        }
        else if (!Publisher.HasSender)
        {
            var sender = Protocol.OpenPublisher(Opened);
            sender.Name = Name;
            Node.OnCountBegins(this, sender.Count);
            Publisher.Open(sender);
        }

        if ((wanted & TopicRole.Subscribe) == 0)
        {
            if (!IsLeavingView)
            {
                CloseReceiver();
            }
        }
        else if (_receiver is null)
        {
            OpenReceiver();
        }

        // An endpoint that left may have been the one without room.
        Signal();
    }

    private void OpenReceiver()
    {
        _receiver = Protocol.OpenSubscription(Opened, this);
        _receiver.Name = Name;
        _grant.OnReceiverOpened();
    }

    private void ShrinkToMembers()
    {
        OnMembersChanged();
        AskOrEnd();
    }

    private void AskOrEnd()
    {
        if (IsLeavingView)
        {
            AskToLeave();
            return;
        }

        if (_endpoints.Length > 0 || _openings is { Count: > 0 })
        {
            AskIfNeeded();
            return;
        }

        _grant.Close();
        _interest?.Close();
        Node.Forget(this);
        if (!_grant.IsAway)
        {
            Node.Membership.Close(Id);
        }

        Node.Contested.Retry(this);
    }

    // One request at a time: its answer is compared with the role that is wanted by then.
    private void AskIfNeeded()
    {
        var wanted = RoleToAskFor();
        bool isStale = _grant.IsStale(wanted);
        if (_grant.IsAsking || _grant.IsClosed || (wanted == _grant.Role && !isStale))
        {
            CompleteOpenings();
            return;
        }

        if (isStale)
        {
            // The service knows the subscription of a receiver that is closed. That subscription must end before a new one begins, because
            // no receiver may begin in the middle of a view.
            CloseReceiver();
            OpenReceiver();
            if ((wanted & TopicRole.Publish) != 0)
            {
                wanted = TopicRole.Publish;
            }
            else
            {
                // There is nothing else to keep, and no right to publish is needed.
                Node.Membership.Close(Id);
                _grant.EndStale();
            }
        }

        _grant.BeginAsk(wanted);
        var request = new TopicRequest { Name = Name, TopicId = Id, Role = wanted, Contract = Contract };
        Node.Membership.Open(request, outcome => OnOutcome(wanted, outcome));
    }

    private void OnOutcome(TopicRole asked, TopicOutcome outcome)
    {
        if (_grant.IsClosed)
        {
            return;
        }

        if (outcome.Refusal is { } refusal)
        {
            _grant.EndRefused();
            Node.Refusals.OnRefused(Node.Log, Id, Name, refusal);
            var refused = _openings?.FindAll(opening => !_grant.Covers(opening.Role) && (opening.Role & ~asked) == 0) ?? [];
            if (outcome.DeniedTo is not null && !_grant.AsksSingly && refused.Exists(opening => opening.Role != refused[0].Role))
            {
                _grant.AskSingly();
                AskIfNeeded();
                return;
            }

            foreach (var opening in refused)
            {
                _openings!.Remove(opening);
                opening.Endpoint.Publication?.LeaveIntake();
            }

            // When a caller learns of the refusal, nothing of the topic is left.
            ShrinkToMembers();
            var failure = FailureOf(refusal, outcome.DeniedTo);
            refused.ForEach(opening => opening.Fail(failure));
            return;
        }

        _grant.EndAsk(asked);
        Node.Refusals.OnGranted(Id);
        Node.Contested.Refuse(this);
        if (Node.ViewOf(Id) is { } view)
        {
            OnView(view);
        }

        // The openings that were asked for may have ended with the node meanwhile.
        AskOrEnd();
    }

    private void CompleteOpenings()
    {
        _openings?.RemoveAll(opening =>
        {
            bool isInView = _grant.IsInView || (opening.Role & TopicRole.Subscribe) == 0;
            if (!_grant.Covers(opening.Role) || !isInView)
            {
                return false;
            }

            _endpoints = [.. _endpoints, opening.Endpoint];
            Node.OnOpened(this, opening.Endpoint);
            opening.Complete();
            return true;
        });
        if (_openings is { Count: 0 })
        {
            _openings = null;
            _grant.OnNoOpenings();
        }

        if (_endpoints.AsSpan().SequenceEqual(_subscribers))
        {
            _endpoints = _subscribers;
        }
    }
}
