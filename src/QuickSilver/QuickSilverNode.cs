using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Endpoints;
using QuickSilver.Inboxes;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Nodes;
using QuickSilver.Prefixes;
using QuickSilver.RequestReply;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;
using QuickSilver.States;
using QuickSilver.Topics;
using QuickSilver.Topics.Declarations;

namespace QuickSilver;

/// <summary>
/// A member of a cluster. It opens topics and carries their messages on a core thread of its own. Thread-safe. A process can contain
/// several nodes.
/// </summary>
public sealed partial class QuickSilverNode : IAsyncDisposable
{
    private readonly INodeParts _parts;
    private readonly NodeCore _core;
    // Null until the node first asks, answers or opens a state.
    private Inbox? _inbox;
    private StateOpening? _states;
    private Task? _disposal;

    internal QuickSilverNode(INodeParts parts, NodeCore core)
    {
        _parts = parts;
        _core = core;
    }

    /// <summary>The identity of this incarnation of the node, as receivers of its messages see it.</summary>
    public NodeId Id => _core.Self;

    /// <summary>What people call this node. See <see cref="QuickSilverOptions.Name"/>.</summary>
    public string Name => _core.Name;

    /// <summary>The current status of the node. Cheap, and callable from any thread.</summary>
    public NodeStatus Status => _core.ReadStatus();

    /// <summary>
    /// Raised when the node becomes degraded, when that ends, and when the node is no longer a member. A degraded node has not heard the
    /// membership service for longer than its heartbeat limit, as on the minority side of a divided network: the others may have continued
    /// without it. <see cref="NodeStatusChangedEventArgs.Kind"/> says which it is.
    /// </summary>
    /// <remarks>
    /// <para>
    /// Other changes of the status, such as a trouble, and the end by <see cref="DisposeAsync"/> are not reported. Nothing follows
    /// <see cref="NodeStatusChangeKind.Expelled"/>.
    /// </para>
    /// <para>
    /// Handlers are called on the thread pool, not on the core thread: one after the other, in the order of the changes, so a handler that
    /// waits delays those that follow. When they are called, publishers that require the service are refused already, or continue again.
    /// The exception of a handler is logged (event 1629). A handler that is added later is not called for the current state: read <see
    /// cref="Status"/> after adding it.
    /// </para>
    /// </remarks>
    public event EventHandler<NodeStatusChangedEventArgs>? StatusChanged
    {
        add
        {
            _core.Notices.Sender = this;
            _core.Notices.Changed += value;
        }
        remove => _core.Notices.Changed -= value;
    }

    private Inbox Letters => LazyInitializer.EnsureInitialized(ref _inbox, () =>
    {
        var options = new TopicOptions { Protocol = new ProtocolChoice(PlainTopics.Inbox) };
        return new Inbox(_core, (name, access) => OpenEndpointAsync<ReadOnlyMemory<byte>>(name, access, options));
    });

    private StateOpening States => LazyInitializer.EnsureInitialized(ref _states, () => new StateOpening(this, _core, Letters));

    /// <summary>Whether the node has <see cref="QuickSilverOptions.StorageDirectory"/>, so that its protocols can open logs.</summary>
    internal bool HasStorage => _core.Environment.HasStorage;

    /// <summary>Whether awaits of the library's own code continue in the caller's context. Read again for each await.</summary>
    internal bool ResumesInContext => _core.ResumesInContext;

    /// <summary>The node as its endpoints know it.</summary>
    internal IEndpointNode Core => _core;

    /// <summary>Whether a node hosts the membership service, so that each part of a divided network has one.</summary>
    internal bool IsServiceHosted => _parts.IsServiceHosted;

    /// <summary>
    /// Whether this node is a member, as far as it knows: the membership service was heard within the time after which it removes a silent
    /// node. From any thread.
    /// </summary>
    internal bool IsServiceHeard => _core.State == NodeState.Running && !_core.StatusReading.IsSilent;

    /// <summary>Whether the core thread runs, so that <see cref="IsServiceHeard"/> is not older than a pause of the process.</summary>
    internal bool IsLive => _core.StatusReading.IsPulsing;

    /// <summary>A task that completes when the membership service has removed this node, and only then.</summary>
    internal Task Expulsion => _core.Expulsion;

    /// <summary>Why <see cref="Expulsion"/> has completed.</summary>
    internal NodeExpelledException? EndOfLife => _core.EndOfLife;

    /// <summary>What helps when accepted messages are lost at the node's end, as a sentence for its report.</summary>
    internal string LossRemedy
    {
        set => _core.PublishLosses.Remedy = value;
    }

    /// <summary>Starts a node and joins its cluster.</summary>
    /// <param name="options">The options. Null: embedded membership on the loopback interface.</param>
    /// <param name="loggerFactory">The logger factory. Null: no logging. Exceptions of its loggers are swallowed and counted.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="QuickSilverOptionsException">
    /// An option is invalid, or another node has its <see cref="QuickSilverOptions.StorageDirectory"/>. The message names the option, its
    /// value, and its range or what to do.
    /// </exception>
    /// <exception cref="MembershipUnreachableException">
    /// No membership service admitted the node within <see cref="QuickSilverOptions.StartTimeout"/>, or no IPv4 address was found for the
    /// service's host name.
    /// </exception>
    /// <exception cref="PortInUseException">Another program holds <see cref="QuickSilverOptions.DiscoveryPort"/>.</exception>
    /// <exception cref="IOException">A port could not be opened on the interface.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the start.</exception>
    public static Task<QuickSilverNode> StartAsync(
        QuickSilverOptions? options = null, ILoggerFactory? loggerFactory = null, CancellationToken cancellationToken = default)
    {
        // A copy: what the caller changes afterwards was not checked.
        var own = options?.Copy() ?? new QuickSilverOptions();
        OptionRules.Check(own);
        // Once for all layers, so that what the loggers throw is counted together.
        var guarded = GuardedLoggers.Of(loggerFactory ?? NullLoggerFactory.Instance);
        cancellationToken.ThrowIfCancellationRequested();
        return NodeStart.OnMachineAsync(own, guarded, cancellationToken);
    }

    /// <summary>
    /// Opens a topic to publish and to subscribe. Its payload type has a codec: bytes, string, a <c>[DataContract]</c> type of this
    /// project, or a type with <see cref="TopicOptions{T}.Codec"/>.
    /// </summary>
    /// <exception cref="ArgumentException">
    /// The name does not have 1 to 255 characters, or has control characters or wildcards; or the options have the codec of another type,
    /// or another guarantee than the one that the type declares (<see cref="TopicAttribute"/>).
    /// </exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">
    /// The type has no codec and the options have none, or the schema is invalid or too large. See <see cref="PayloadSchema.MaxFields"/>.
    /// </exception>
    /// <exception cref="ContractMismatchException">The topic is open elsewhere with a contract that does not match.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    /// <remarks>
    /// Completes when the membership service has granted access and, for a subscriber, when this node is in a view of the topic. Messages
    /// that others publish after they know that view are delivered here. To use one half only, call
    /// <see cref="OpenPublisherAsync{T}(string, TopicOptions?, CancellationToken)"/> or
    /// <see cref="OpenSubscriberAsync{T}(string, TopicOptions?, CancellationToken)"/>: a node that does not subscribe receives nothing.
    /// </remarks>
    public Task<ITopic<T>> OpenTopicAsync<T>(string name, TopicOptions? options = null, CancellationToken cancellationToken = default) =>
        OpenAsync<T, ITopic<T>>(name, TopicAccess.PublishAndSubscribe, options, cancellationToken);

    /// <summary>Opens a topic to publish only. This node receives none of its messages for this endpoint.</summary>
    /// <inheritdoc cref="OpenTopicAsync{T}(string, TopicOptions?, CancellationToken)"/>
    public Task<ITopicPublisher<T>> OpenPublisherAsync<T>(
        string name, TopicOptions? options = null, CancellationToken cancellationToken = default) =>
        OpenAsync<T, ITopicPublisher<T>>(name, TopicAccess.Publish, options, cancellationToken);

    /// <summary>Opens a topic to subscribe only.</summary>
    /// <inheritdoc cref="OpenTopicAsync{T}(string, TopicOptions?, CancellationToken)"/>
    public Task<ITopicSubscriber<T>> OpenSubscriberAsync<T>(
        string name, TopicOptions? options = null, CancellationToken cancellationToken = default) =>
        OpenAsync<T, ITopicSubscriber<T>>(name, TopicAccess.Subscribe, options, cancellationToken);

    /// <summary>
    /// Reads a topic without an endpoint to keep: opens it to subscribe when the stream is enumerated, reads its messages as they arrive,
    /// and closes it when the enumeration stops.
    /// </summary>
    /// <remarks>
    /// Reading is that of <see cref="ITopicSubscriber{T}.ReadAllAsync"/>. Each enumeration opens an endpoint of its own,
    /// so the stream may be enumerated several times, also at the same time. A message that is published before the topic is open, or
    /// between two enumerations, is not read. What the enumeration leaves in its buffer is dropped.
    /// </remarks>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="onGap">Called, in order with the messages, for messages that this reader cannot receive.</param>
    /// <param name="cancellationToken">Cancels opening and reading. The token of the enumeration does so, too.</param>
    /// <exception cref="ContractMismatchException">
    /// The topic is open elsewhere with a contract that does not match. Thrown by the enumeration, as the following exceptions are.
    /// </exception>
    /// <exception cref="SlowReaderException">The reader was too slow (<see cref="TopicOptions.SlowReaderLimit"/>).</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="OperationCanceledException">A token cancelled the enumeration.</exception>
    /// <exception cref="ArgumentException">
    /// The name does not have 1 to 255 characters, or has control characters or wildcards; or the options have the codec of another type,
    /// or another guarantee than the one that the type declares (<see cref="TopicAttribute"/>).
    /// </exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">The type has no codec, or its schema is invalid or too large.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    public IAsyncEnumerable<Message<T>> ReadAllAsync<T>(
        string name, TopicOptions? options = null, Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default)
    {
        TopicName.Check(name);
        options = options?.Copy() ?? new TopicOptions();
        DeclaredTopic.Apply<T>(options);
        OptionRules.Check(options);
        _ = CodecOptions.Of<T>(options);
        _core.CheckNotStopped();
        return ReadOpenedAsync<T>(name, options, onGap, cancellationToken);
    }

    /// <inheritdoc cref="ReadAllAsync{T}(string, TopicOptions?, Action{GapNotice}?, CancellationToken)"/>
    public IAsyncEnumerable<Message<T>> ReadAllAsync<T>(string name, CancellationToken cancellationToken) =>
        ReadAllAsync<T>(name, options: null, onGap: null, cancellationToken);

    /// <summary>
    /// Opens a requester, which sends requests to all responders of the name and gets their answers. Both types have a codec, as payloads
    /// of topics have.
    /// </summary>
    /// <remarks>
    /// The name is that of a topic which carries the requests, so no other topic may have it. Answers come to a topic of this node alone,
    /// which is opened with its first requester and stays open.
    /// </remarks>
    /// <inheritdoc cref="OpenTopicAsync{T}(string, TopicOptions?, CancellationToken)"/>
    public Task<IRequester<TRequest, TReply>> OpenRequesterAsync<TRequest, TReply>(
        string name, RequesterOptions? options = null, CancellationToken cancellationToken = default)
    {
        TopicName.Check(name);
        options = options?.Copy() ?? new RequesterOptions();
        OptionRules.Check(options);
        return RequestsOf(CodecOptions.Of<TRequest, TReply>(options)).OpenRequesterAsync(name, Letters, options, cancellationToken);
    }

    /// <summary>
    /// Opens a responder: the handler is called for each request of the name, outside the core thread, so that it may wait. What it
    /// returns is the answer. If it throws, the requester gets the message of the exception, and the detail of a
    /// <see cref="FaultException{T}"/>.
    /// </summary>
    /// <param name="name">The name, which requesters and responders have in common.</param>
    /// <param name="handler">
    /// The handler. It gets the request and its requester. Its token is cancelled when the responder is disposed or the node has ended.
    /// </param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <inheritdoc cref="OpenTopicAsync{T}(string, TopicOptions?, CancellationToken)"/>
    public Task<IResponder> OpenResponderAsync<TRequest, TReply>(
        string name,
        Func<Message<TRequest>, CancellationToken, ValueTask<TReply>> handler,
        ResponderOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        TopicName.Check(name);
        ArgumentNullException.ThrowIfNull(handler);
        options = options?.Copy() ?? new ResponderOptions();
        OptionRules.Check(options);
        var requests = RequestsOf(CodecOptions.Of<TRequest, TReply>(options));
        return requests.OpenResponderAsync(name, Letters, handler, options, cancellationToken);
    }

    /// <summary>
    /// Opens a state: the last value of each key, which all nodes that have it open hold. Both types have a codec, as payloads of topics
    /// have. Keys are compared with their own <c>Equals</c>, so they must not be arrays or memory.
    /// </summary>
    /// <remarks>
    /// Completes when this node has all that any other node has. If no other has the state open, it is empty. The name is that of a topic
    /// which carries the changes, so no other topic may have it. A node opens a state once at a time.
    /// </remarks>
    /// <exception cref="InvalidOperationException">The state is already open on this node.</exception>
    /// <inheritdoc cref="OpenTopicAsync{T}(string, TopicOptions?, CancellationToken)"/>
    public Task<IState<TKey, TValue>> OpenStateAsync<TKey, TValue>(
        string name, StateOptions? options = null, CancellationToken cancellationToken = default)
        where TKey : notnull
    {
        TopicName.Check(name);
        StateOpening.CheckKey<TKey>();
        options = options?.Copy() ?? new StateOptions();
        OptionRules.Check(options);
        _core.CheckNotStopped();
        var (keys, values) = CodecOptions.Of<TKey, TValue>(options);
        return States.OpenAsync(name, keys, values, options, cancellationToken);
    }

    /// <summary>
    /// Subscribes to all topics whose names begin so: those that are published now, and those to come. Completes when all existing topics
    /// with the prefix have been opened or, if their type is another one, refused.
    /// </summary>
    /// <param name="prefix">What the names begin with: 1 to 255 characters, such as <c>prices/</c>.</param>
    /// <param name="handler">
    /// Called with the name of the topic for each message, as a consumer is: outside the core thread, in order for each topic, and for
    /// several topics at the same time.
    /// </param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="InvalidOperationException">The node has 32 prefixes open.</exception>
    /// <exception cref="PrefixUnansweredException">The membership service did not answer within five seconds.</exception>
    /// <inheritdoc cref="OpenTopicAsync{T}(string, TopicOptions?, CancellationToken)"/>
    public Task<ITopicPrefix> OpenPrefixAsync<T>(
        string prefix,
        Func<string, Message<T>, CancellationToken, ValueTask> handler,
        PrefixOptions<T>? options = null,
        CancellationToken cancellationToken = default)
    {
        TopicName.CheckPrefix(prefix);
        ArgumentNullException.ThrowIfNull(handler);
        var use = new PrefixUse<T>(prefix, handler, options?.Copy() ?? new PrefixOptions<T>());
        OptionRules.Check(use.Options);
        DeclaredTopic.Apply<T>(use.Options.Topic);
        _core.CheckNotStopped();
        var codec = CodecOptions.Of<T>(use.Options.Topic);
        return new TopicPrefix<T>(this, _core, () => _core.Membership.Follows, codec, use).OpenAsync(cancellationToken);
    }

    /// <summary>
    /// The name of a node, such as the sender of a message: of a member of the cluster, or of one of the 64 that left it last. If the node
    /// is unknown or is of a version without names, its id as text. Does not allocate for a member. Callable from any thread.
    /// </summary>
    public string NameOf(NodeId node) => _core.Named(node) is { Name.Length: > 0 } named ? named.Name : node.ToString();

    /// <summary>The counters of the node since it started. Callable from any thread.</summary>
    public NodeCounters GetCounters() => _core.Readings.ReadCounters();

    /// <summary>
    /// The current levels of the node: queues, unacknowledged bytes, regions, and nodes that are not reached. From any thread.
    /// </summary>
    public NodeGauges GetGauges() => _core.Readings.ReadGauges();

    /// <summary>Reads one figure of the catalogue. From any thread.</summary>
    internal T Read<T>(NodeFigure<T> figure) => figure.Read(_core.Readings);

    /// <summary>Reads a figure with a value for each value of its tag. From any thread.</summary>
    internal IReadOnlyList<(string Tag, T Value)> Read<T>(FigureByTag<T> figure) => [.. figure.Read(_core.Readings)];

    /// <summary>
    /// Drains all topics. They accept no more messages, and the task completes when all accepted messages are stable. Endpoints that were
    /// cancelled or disposed before have nothing to drain.
    /// </summary>
    /// <param name="cancellationToken">
    /// Ends the wait: members that do not answer, or a handler that blocks the core thread, make it long. The topics accept no messages all
    /// the same, and another call waits longer.
    /// </param>
    /// <exception cref="OperationCanceledException">
    /// The token cancelled the wait, and not all accepted messages are known to be stable; or an endpoint was cancelled meanwhile.
    /// </exception>
    /// <exception cref="ObjectDisposedException">
    /// The node was disposed, or an endpoint was disposed meanwhile, before its messages were stable.
    /// </exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node before all was stable.</exception>
    /// <exception cref="QuickSilverException">An endpoint ended before its messages were stable, for the reason that this says.</exception>
    public async Task DrainAsync(CancellationToken cancellationToken = default)
    {
        _core.CheckNotStopped();
        cancellationToken.ThrowIfCancellationRequested();
        var listed = ListEndpoints();
        await _core.UntilEndedAsync(listed, cancellationToken).ConfigureAwait(_core.ResumesInContext);
        var endpoints = await listed.ConfigureAwait(_core.ResumesInContext);
        await Task.WhenAll(endpoints.Select(endpoint => endpoint.DrainWithNodeAsync(cancellationToken)))
            .ConfigureAwait(_core.ResumesInContext);
    }

    /// <summary>
    /// Closes all topics, leaves the cluster and stops, all within a second. Accepted messages get up to half a second to become stable,
    /// and readers and consumers to finish what was acknowledged for them. What they do not handle is dropped and reported (event 1650). To
    /// wait longer, call <see cref="DrainAsync"/> and <see cref="IConsumption.StopAsync"/> first.
    /// </summary>
    /// <remarks>
    /// Where <see cref="MembershipOptions.Servers"/> names several servers and none of them leads, the node waits up to five
    /// seconds more for one that does. If its process ended before the other members are notified, they would wait for its
    /// acknowledgements.
    /// </remarks>
    public ValueTask DisposeAsync()
    {
        var disposal = Volatile.Read(ref _disposal);
        if (disposal is null)
        {
            var begun = new TaskCompletionSource(_core.Completions);
            disposal = Interlocked.CompareExchange(ref _disposal, begun.Task, null);
            if (disposal is null)
            {
                _ = DisposeOnceAsync(begun);
                disposal = begun.Task;
            }
        }

        return new ValueTask(disposal);
    }

    /// <summary>An endpoint whose access is known only at run time. A codec of null is the type's own.</summary>
    internal Task<TopicEndpoint<T>> OpenEndpointAsync<T>(
        string name, TopicAccess access, TopicOptions? options = null, IPayloadCodec<T>? codec = null, CancellationToken stop = default) =>
        OpenAsync<T, TopicEndpoint<T>>(name, access, options, stop, codec);

    /// <summary>Starts a node on parts that were composed elsewhere: for a machine, the simulator or a test.</summary>
    internal static Task<QuickSilverNode> StartAsync(
        INodeParts parts, QuickSilverOptions options, ILoggerFactory logs, CancellationToken cancellationToken) =>
        NodeStart.OnPartsAsync(parts, options, logs, cancellationToken);

    /// <summary>The codec of a type that has one.</summary>
    internal static IPayloadCodec<T> CodecOf<T>() =>
        GeneratedCodecs.TryGet<T>(out var codec) ? codec : throw new NotSupportedException(MissingCodec.InWords(typeof(T)));

    // Awaits in the caller's context, so that gap notices are reported where messages are read.
    private async IAsyncEnumerable<Message<T>> ReadOpenedAsync<T>(
        string name, TopicOptions options, Action<GapNotice>? onGap, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var topic = await OpenSubscriberAsync<T>(name, options, cancellationToken);
        await foreach (var message in topic.ReadAllAsync(onGap, cancellationToken))
        {
            yield return message;
        }
    }

    private RequestOpening<TRequest, TReply> RequestsOf<TRequest, TReply>(
        (IPayloadCodec<TRequest> Requests, IPayloadCodec<TReply> Replies) codecs)
    {
        _core.CheckNotStopped();
        return new RequestOpening<TRequest, TReply>(this, _core, codecs.Requests, codecs.Replies);
    }

    private Task<TTopic> OpenAsync<T, TTopic>(
        string name, TopicAccess access, TopicOptions? options, CancellationToken cancellationToken, IPayloadCodec<T>? codec = null)
        where TTopic : class, ITopicEndpoint
    {
        TopicName.Check(name);
        options = options?.Copy() ?? new TopicOptions();
        DeclaredTopic.Apply<T>(options);
        OptionRules.Check(options);
        codec ??= CodecOptions.Of<T>(options);
        _core.CheckNotStopped();
        _core.Protocols.Inbox ??= () => Letters;
        return EndpointOpening.OpenAsync<T, TTopic>(_core, (name, codec, access, options), cancellationToken);
    }
}
