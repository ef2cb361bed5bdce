using QuickSilver.Core.Requests;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Seeds.Tests.Infrastructure.Courses;
using QuickSilver.Seeds.Tests.Infrastructure.Recording;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure;

internal sealed partial class WholeNode
{
    internal sealed class Life
    {
        private readonly WholeCluster _cluster;
        private readonly WholeNode _owner;
        private readonly SimulatedEnvironment _environment;
        private readonly OddSubscribers _subscribers;
        private readonly CancellationTokenSource _over = new();
        private readonly Dictionary<string, OpenSubscription> _subscriptions = [];
        private readonly Dictionary<string, OpenPublication> _publications = [];
        // What is being opened or closed, and since when.
        private readonly Dictionary<string, TimeSpan> _busy = [];
        private readonly SeededRandom _habits;
        private readonly BusyHandler? _handler;
        // Null until something is published without the right.
        private UnlawfulPublisher? _unlawful;
        private QuickSilverNode? _node;
        private bool _isLeaving;

        public IReadOnlyList<StatusReason> Reasons => _node?.Status.Reasons ?? [];


        public Life(WholeCluster cluster, WholeNode owner)
        {
            _cluster = cluster;
            _owner = owner;
            _environment = owner.Machine.Environment;
            _subscribers = new OddSubscribers(cluster, _environment);
            ulong which = ((ulong)(uint)owner.Machine.Number << 32) | (uint)owner.Machine.Lives;
            _habits = SeededRandom.Derive(cluster.Seed, purpose: 24, which);
            _handler = cluster.Setup.Hardships.HasFlag(Hardships.BusyHandlers)
                ? new BusyHandler(cluster, owner, SeededRandom.Derive(cluster.Seed, purpose: 25, which))
                : null;
            var options = cluster.ProtocolOptionsOf(owner.Machine);
            var parts = new SimulatedParts(_environment, options, cluster.Services, cluster.Configurations, cluster.LogsOf(owner.Machine));
            Parts = new RecordedParts(parts, cluster.History, owner.Machine)
            {
                OnSettled = OnSettled,
                OnExpelled = OnExpelled,
                OnAdmittedAnew = OnAdmittedAnew,
                Synchrony = cluster.Synchrony,
            };
        }

        public RecordedParts Parts { get; }

        public bool IsOver { get; private set; }

        public bool IsJoined => _node is not null && !IsOver;

        public NodeKey Key => Parts.Key;

        public bool IsSubscribed(string topic) => _subscriptions.TryGetValue(topic, out var open) && open.IsSettled;

        public bool IsPublishing(string topic) => _publications.ContainsKey(topic);

        public async Task RunAsync()
        {
            try
            {
                var options = _cluster.ProtocolOptionsOf(_owner.Machine).Node;
                _node = await QuickSilverNode.StartAsync(Parts, options, _cluster.LogsOf(_owner.Machine), _over.Token);
            }
            catch (Exception exception) when (exception is MembershipUnreachableException or IOException || IsEnd(exception))
            {
                Restart();
                return;
            }

            foreach (string topic in _owner.Subscriptions.ToArray())
            {
                _cluster.Watch(SubscribeAsync(topic));
            }

            foreach (string topic in _owner.Publications.ToArray())
            {
                _cluster.Watch(OpenToPublishAsync(topic));
            }
        }

        public async Task SubscribeAsync(string topic)
        {
            if (_subscriptions.ContainsKey(topic) || !_busy.TryAdd("s" + topic, _cluster.Simulation.Now))
            {
                return;
            }

            ITopicSubscriber<ReadOnlyMemory<byte>> endpoint;
            try
            {
                endpoint = await _node!.OpenSubscriberAsync<ReadOnlyMemory<byte>>(topic, OptionsOf(topic));
            }
            catch (Exception exception) when (IsOver && IsEnd(exception))
            {
                return;
            }

            _busy.Remove("s" + topic);
            ulong id = TopicId.Of(topic);
            var subscription = _cluster.NextSubscription(_owner.Machine.Number, id);
            var open = new OpenSubscription(endpoint, subscription, Parts.Receivers[id].ActiveFrom);
            _subscriptions.Add(topic, open);
            var history = _cluster.History;
            _subscribers.Attach(
                endpoint,
                (in message) =>
                {
                    var which = new MessageId(KeyOf(message.Sender), id, message.Sequence);
                    history.Delivered(_cluster.Simulation.Now, subscription, which, TraceHash.Of(message.Value.Span));
                    _handler?.OnMessage(topic);
                },
                gap => history.Gap(_cluster.Simulation.Now, subscription, KeyOf(gap.Sender), gap.First, gap.Last));
            history.Activated(_cluster.Simulation.Now, subscription, Key, open.Configuration);
            OnSettled();
            if (!_owner.Subscriptions.Contains(topic))
            {
                await UnsubscribeAsync(topic);
            }
        }

        public async Task UnsubscribeAsync(string topic)
        {
            if (!_subscriptions.Remove(topic, out var open))
            {
                return;
            }

            _busy.Add("s" + topic, _cluster.Simulation.Now);
            _cluster.History.Unsubscribed(_cluster.Simulation.Now, open.Subscription);
            await open.Endpoint.DisposeAsync();
            _busy.Remove("s" + topic);
            if (_owner.Subscriptions.Contains(topic) && IsJoined)
            {
                await SubscribeAsync(topic);
            }
        }

        public async Task OpenToPublishAsync(string topic)
        {
            if (_publications.ContainsKey(topic) || !_busy.TryAdd("p" + topic, _cluster.Simulation.Now))
            {
                return;
            }

            ITopicPublisher<ReadOnlyMemory<byte>> endpoint;
            try
            {
                endpoint = await _node!.OpenPublisherAsync<ReadOnlyMemory<byte>>(topic, OptionsOf(topic));
            }
            catch (Exception exception) when (IsOver && IsEnd(exception))
            {
                return;
            }

            _busy.Remove("p" + topic);
            _publications.Add(topic, new OpenPublication(_cluster, topic, endpoint, () => Parts.TakenOf(TopicId.Of(topic)), _habits));
            if (!_owner.Publications.Contains(topic))
            {
                await StopPublishingAsync(topic);
            }
        }

        public async Task StopPublishingAsync(string topic)
        {
            if (!_publications.Remove(topic, out var open))
            {
                return;
            }

            _busy.Add("p" + topic, _cluster.Simulation.Now);
            await open.CloseAsync(Parts.OutsideTime);
            _busy.Remove("p" + topic);
            if (_owner.Publications.Contains(topic) && IsJoined)
            {
                await OpenToPublishAsync(topic);
            }
        }

        /// <summary>Asks to open a topic without the right to it, and requires that it is denied.</summary>
        public async Task AskWithoutRightAsync(string topic, bool subscribes)
        {
            string what = (subscribes ? "S" : "P") + topic;
            if (!_busy.TryAdd(what, _cluster.Simulation.Now))
            {
                return;
            }

            try
            {
                if (subscribes)
                {
                    var subscriber = await _node!.OpenSubscriberAsync<ReadOnlyMemory<byte>>(topic, OptionsOf(topic));
                    var subscription = _cluster.NextSubscription(_owner.Machine.Number, TopicId.Of(topic));
                    _cluster.History.Activated(_cluster.Simulation.Now, subscription, Key, Parts.LastConfiguration);
                    await subscriber.DisposeAsync();
                }
                else
                {
                    await _node!.OpenPublisherAsync<ReadOnlyMemory<byte>>(topic, OptionsOf(topic));
                    throw new InvalidOperationException($"{_owner.Machine} was let in to publish in {topic} without the right.");
                }
            }
            catch (TopicAccessDeniedException denied)
            {
                if (denied.Topic != topic || denied.Identity != _owner.Machine.Identity)
                {
                    throw new InvalidOperationException($"Not what was asked is denied: {denied.Message}");
                }
            }
            catch (Exception exception) when (IsOver && IsEnd(exception))
            {
                return;
            }

            _busy.Remove(what);
        }

        /// <summary>Sends in a topic, past everything that asks whether the node may.</summary>
        public void PublishWithoutRight(string topic, byte[] payload)
        {
            _unlawful ??= new UnlawfulPublisher(Parts.Node);
            if (!_cluster.Setup.IsBestEffort(TopicId.Of(topic)))
            {
                _environment.Post(new ActionRequest(() => _unlawful.Publish(TopicId.Of(topic), payload)));
            }
        }

        /// <summary>How many nodes it knows.</summary>
        public int Known => ((MembershipClient)Parts.Membership).NodeCount;

        /// <summary>Publishes, unless the endpoint is not open or its last message still waits for room.</summary>
        public bool TryPublish(string topic, ReadOnlyMemory<byte> payload) =>
            _publications.TryGetValue(topic, out var open) && open.TryPublish(payload);

        /// <summary>What was accepted from the application but never handed to the network, as a sentence; null when nothing.</summary>
        public string? FirstUnsent()
        {
            foreach (var open in _publications.Values)
            {
                if (open.Unsent() is { } sentence)
                {
                    return $"Node {_owner.Machine.Number} {sentence}.";
                }
            }

            return null;
        }

        /// <summary>Reports to the checkers what its application waits for.</summary>
        public void TellWaits()
        {
            var now = _cluster.Simulation.Now;
            string? named = _node!.Status.Reason;
            foreach (var (what, since) in _busy)
            {
                string verb = _owner.Subscriptions.Contains(what[1..]) || _owner.Publications.Contains(what[1..]) ? "to open" : "to close";
                _cluster.History.Waits(new Waits(now, _owner.Machine.Number, TopicId.Of(what[1..]), verb, since, named));
            }

            foreach (var open in _publications.Values)
            {
                if (open.WaitsSince() is { } since)
                {
                    ulong topic = TopicId.Of(open.Topic);
                    _cluster.History.Waits(new Waits(now, _owner.Machine.Number, topic, "to publish to", since, named));
                }
            }
        }

        public async Task LeaveAsync()
        {
            IsOver = _isLeaving = true;
            foreach (var open in _subscriptions.Values)
            {
                _cluster.History.Unsubscribed(_cluster.Simulation.Now, open.Subscription);
            }

            await _node!.DisposeAsync();
            _cluster.History.Stopped(_cluster.Simulation.Now, _owner.Machine.Number, Key);
            _cluster.RestartSoon(_owner.Machine);
        }

        /// <summary>The process is gone: crashed, or ended by itself.</summary>
        public void End()
        {
            if (!IsOver)
            {
                IsOver = true;
                if (Parts.HasBegun)
                {
                    _cluster.History.Stopped(_cluster.Simulation.Now, _owner.Machine.Number, Key);
                }
            }
        }

        /// <summary>After the run: frees what a dead process would have taken with it.</summary>
        public void CleanUp()
        {
            _over.Cancel();
            if (_node is not null && !_isLeaving && !_node.DisposeAsync().IsCompleted)
            {
                throw new InvalidOperationException("A dead node cannot be disposed of at once.");
            }
        }

        private static NodeKey KeyOf(NodeId sender) => new(sender.Id, sender.Incarnation);

        private static bool IsEnd(Exception exception) =>
            exception is NodeExpelledException or ObjectDisposedException or OperationCanceledException;

        public void OnSettled()
        {
            foreach (var open in _subscriptions.Values)
            {
                if (!open.IsSettled && open.Configuration <= Parts.Settled && _cluster.IsOne)
                {
                    open.IsSettled = true;
                    _cluster.History.Subscribed(_cluster.Simulation.Now, open.Subscription);
                }
            }
        }

        // What is owed is owed from when all follow the service that the node came over to.
        private void OnAdmittedAnew(long configuration)
        {
            if (_cluster.MayPart)
            {
                foreach (var open in _subscriptions.Values)
                {
                    open.IsSettled = false;
                    open.Configuration = configuration;
                }
            }
        }

        private TopicOptions OptionsOf(string topic) => new()
        {
            Guarantee = _cluster.Setup.IsBestEffort(TopicId.Of(topic)) ? Guarantee.BestEffort : Guarantee.Reliable,
            ReaderCapacity = _cluster.Setup.ReaderCapacity,
            Protocol = _cluster.Setup.PinsTopics && !_cluster.Setup.IsBestEffort(TopicId.Of(topic))
                ? new ProtocolChoice(WholeCluster.Pinned)
                : null,
        };

        private void OnExpelled()
        {
            _cluster.History.Expelled(_cluster.Simulation.Now, _owner.Machine.Number, Key);
            End();
            Restart();
        }

        private void Restart()
        {
            if (_environment.IsAlive)
            {
                _cluster.RestartSoon(_owner.Machine);
            }
        }
    }
}
