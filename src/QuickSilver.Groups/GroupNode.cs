using QuickSilver.Endpoints;
using QuickSilver.Groups.Endpoints;
using QuickSilver.Groups.Members;
using QuickSilver.Groups.Protocol;
using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Serialization;

namespace QuickSilver.Groups;

/// <summary>Opens groups on a node.</summary>
public static class GroupNode
{
    // What comes before the loop of a member reads.
    private const int EarlyEvents = 1 << 16;

    /// <summary>What members with a state agree on.</summary>
    internal const string StateParameters = "state=1";

    /// <summary>
    /// Joins a group, and creates it if no other node has it open. A node is in a group once at a time. The name is that of a topic, so no
    /// other topic may have it.
    /// </summary>
    /// <remarks>
    /// Completes when this node is in a view. The first event is that view. Messages that others send in it come after it.
    /// </remarks>
    /// <typeparam name="TMessage">The type of the messages. All members have the same.</typeparam>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none, or the options have the codec of another type.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">
    /// The type has no codec, and the options have none. Or nodes host the membership service, and the options ask for the primary
    /// partition only.
    /// </exception>
    /// <exception cref="InvalidOperationException">This node has the group open already, as a member or to send.</exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no group of this type.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<IGroup<TMessage>> OpenGroupAsync<TMessage>(
        this QuickSilverNode node, string name, GroupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        options ??= new GroupOptions();
        var order = options.Order;
        var (endpoint, settings) = await OpenAsync<TMessage>(node, name, options, options.ReaderCapacity, "views=1", cancellationToken)
            .ConfigureAwait(node.ResumesInContext);
        return new Group<TMessage>(endpoint, order, DeskOf(endpoint, node.Id, settings));
    }

    /// <summary>
    /// Opens a group to send to it, without joining it. This node gets no views and no messages, and no member waits for it. The kind of
    /// the group, with a state or without one, is that of its members.
    /// </summary>
    /// <remarks>
    /// Completes when the node may send. A message that is sent while the group has no members is lost, and a question then has no answers.
    /// </remarks>
    /// <typeparam name="TMessage">The type of the messages. All members have the same.</typeparam>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="options">
    /// The options, of which <see cref="GroupOptions.Order"/> and the codec have an effect. Null: the defaults. In the order
    /// <see cref="GroupOrder.Causal"/>, the messages of a node that gets none come after its own earlier ones.
    /// </param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none, or the options have the codec of another type.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">The type has no codec, and the options have none.</exception>
    /// <exception cref="InvalidOperationException">This node has the group open already, as a member or to send.</exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no group of this type.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<IGroupSender<TMessage>> OpenGroupSenderAsync<TMessage>(
        this QuickSilverNode node, string name, GroupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        options ??= new GroupOptions();
        var order = options.Order;
        var (endpoint, settings) = await OpenAsync<TMessage>(
            node, name, TopicAccess.Publish, options, new TopicOptions(), ContractParameters.Any, cancellationToken)
            .ConfigureAwait(node.ResumesInContext);
        return new GroupSending<TMessage>(endpoint, order, DeskOf(endpoint, node.Id, settings));
    }

    /// <summary>
    /// Joins a group whose members have a state: a member that joins gets the state of another member, and then exactly the events that
    /// this one has got since. All members of the group have a state, so a group without one cannot have the same name.
    /// </summary>
    /// <remarks>
    /// Completes when this member has the state. If no other member has one, the oldest member begins with the state that its handler has.
    /// While other members are there and none of them answers, it waits, and the status of the node says for which. A group with a state
    /// buffers at least 65,536 events (<see cref="GroupOptions.ReaderCapacity"/>).
    /// </remarks>
    /// <typeparam name="TMessage">The type of the messages. All members have the same.</typeparam>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="handler">The state, and what changes it. It is called outside the core thread, one call at a time.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none, or the options have the codec of another type.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">
    /// The type has no codec, and the options have none. Or nodes host the membership service, and the options ask for the primary
    /// partition only.
    /// </exception>
    /// <exception cref="InvalidOperationException">This node has the group open already, as a member or to send.</exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no such group of this type.</exception>
    /// <exception cref="GroupStateTooLargeException">The state is larger than <see cref="GroupOptions.MaxStateBytes"/>.</exception>
    /// <exception cref="GroupHandlerException">The handler threw.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static Task<IGroup<TMessage>> OpenGroupAsync<TMessage>(
        this QuickSilverNode node,
        string name,
        IGroupHandler<TMessage> handler,
        GroupOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        ArgumentNullException.ThrowIfNull(handler);
        return OpenStatefulAsync(node, name, handler, options ?? new GroupOptions(), StateParameters, cancellationToken);
    }

    /// <summary>
    /// Joins a group whose state is a value: each event makes the next one. A member that joins gets the state of another member, and then
    /// exactly the events that this one has got since.
    /// </summary>
    /// <remarks>
    /// As <see cref="OpenGroupAsync{TMessage}(QuickSilverNode, string, IGroupHandler{TMessage}, GroupOptions?, CancellationToken)"/>. That
    /// all members have the same type of state is not checked before one reads the state of another.
    /// </remarks>
    /// <typeparam name="TState">The type of the state, the same at all members.</typeparam>
    /// <typeparam name="TMessage">The type of the messages. All members have the same.</typeparam>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the group: 1 to 255 characters, without control characters and wildcards.</param>
    /// <param name="initial">The state with which the first member begins.</param>
    /// <param name="apply">
    /// Makes the next state of a state and an event. It gives the same at all members, so it uses nothing else, and it does not change the
    /// state that it gets: other threads may have it. Called outside the core thread, one call at a time.
    /// </param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="stateCodec">The codec of the state. Null: that of its type.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is none, or the options have the codec of another type.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="NotSupportedException">
    /// A type has no codec, and none is given. Or nodes host the membership service, and the options ask for the primary partition only.
    /// </exception>
    /// <exception cref="InvalidOperationException">This node has the group open already, as a member or to send.</exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no such group of this type.</exception>
    /// <exception cref="GroupStateTooLargeException">The state is larger than <see cref="GroupOptions.MaxStateBytes"/>.</exception>
    /// <exception cref="GroupHandlerException">The function or a codec threw.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<IStateGroup<TState, TMessage>> OpenGroupAsync<TState, TMessage>(
        this QuickSilverNode node,
        string name,
        TState initial,
        Func<TState, GroupEvent<TMessage>, TState> apply,
        GroupOptions? options = null,
        IPayloadCodec<TState>? stateCodec = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        ArgumentNullException.ThrowIfNull(apply);
        var state = new ValueState<TState, TMessage>(initial, apply, stateCodec ?? QuickSilverNode.CodecOf<TState>());
        var group = await node.OpenGroupAsync<TMessage>(name, state, options, cancellationToken).ConfigureAwait(node.ResumesInContext);
        return new StateGroup<TState, TMessage>(group, state);
    }

    /// <summary>
    /// As <see cref="OpenGroupAsync{TMessage}(QuickSilverNode, string, IGroupHandler{TMessage}, GroupOptions?, CancellationToken)"/>, for a
    /// group whose members agree on more than on having a state.
    /// </summary>
    internal static async Task<IGroup<TMessage>> OpenStatefulAsync<TMessage>(
        QuickSilverNode node,
        string name,
        IGroupHandler<TMessage> handler,
        GroupOptions options,
        string parameters,
        CancellationToken cancellationToken)
    {
        var limits = new StateLimits(options.MaxStateBytes, options.MostWaitingEvents);
        var order = options.Order;
        int capacity = Math.Max(options.ReaderCapacity, EarlyEvents);
        var (endpoint, settings) = await OpenAsync<TMessage>(node, name, options, capacity, parameters, cancellationToken)
            .ConfigureAwait(node.ResumesInContext);
        if (handler is ICountedHandler counted)
        {
            counted.OnIgnored = settings.OnIgnored;
        }

        var desk = DeskOf(endpoint, node.Id, settings);
        var group = new StatefulGroup<TMessage>(endpoint, new Group<TMessage>(endpoint, order, desk), node.Id, handler, limits);
        group.Begin(settings.Join!);
        try
        {
            var core = endpoint.Topic.Node;
            await core.UntilEndedAsync(group.Opened, cancellationToken).ConfigureAwait(node.ResumesInContext);
            await group.Opened.ConfigureAwait(node.ResumesInContext);
            return group;
        }
        catch
        {
            await group.DisposeAsync().ConfigureAwait(node.ResumesInContext);
            throw;
        }
    }

    private static Task<(TopicEndpoint<GroupItem<TMessage>> Endpoint, GroupSettings Settings)> OpenAsync<TMessage>(
        QuickSilverNode node, string name, GroupOptions options, int capacity, string parameters, CancellationToken cancellationToken) =>
        OpenAsync<TMessage>(
            node,
            name,
            TopicAccess.PublishAndSubscribe,
            options,
            new TopicOptions { ReaderCapacity = capacity, SlowReaderLimit = options.SlowReaderLimit },
            ContractParameters.Of(parameters),
            cancellationToken);

    private static async Task<(TopicEndpoint<GroupItem<TMessage>> Endpoint, GroupSettings Settings)> OpenAsync<TMessage>(
        QuickSilverNode node,
        string name,
        TopicAccess access,
        GroupOptions options,
        TopicOptions topic,
        ContractParameters parameters,
        CancellationToken cancellationToken)
    {
        options.Check();
        var messages = CodecOf<TMessage>(options);
        if ((access & TopicAccess.Subscribe) != 0 && options.PrimaryPartitionOnly && node.IsServiceHosted)
        {
            throw new NotSupportedException(
                $"The group \"{name}\" with {nameof(GroupOptions.PrimaryPartitionOnly)} needs a standalone membership service. Here nodes "
                + "host the service, so each part of a divided network has one, and no part is the primary one. Run qsm gms and name it in "
                + $"Membership:Servers on all nodes, or open the group without {nameof(GroupOptions.PrimaryPartitionOnly)}.");
        }

        var settings = new GroupSettings
        {
            OrderFollowsTraffic = options.OrderFollowsTraffic,
            PrimaryPartitionOnly = options.PrimaryPartitionOnly,
        };
        topic.Protocol = new ProtocolChoice(GroupTopics.Factory) { Parameters = parameters, Settings = settings };
        var codec = new GroupCodec<TMessage>(name, messages);
        var endpoint = await node.OpenEndpointAsync(name, access, topic, codec, cancellationToken).ConfigureAwait(node.ResumesInContext);
        if (!settings.IsUsed)
        {
            await endpoint.DisposeAsync().ConfigureAwait(node.ResumesInContext);
            throw new InvalidOperationException(
                $"This node has the group \"{name}\" open already. Use what was opened, or dispose it first.");
        }

        return (endpoint, settings);
    }

    private static ReplyDesk DeskOf(TopicEndpoint endpoint, NodeId self, GroupSettings settings) =>
        new(endpoint.Topic.Node, endpoint.Name, self, settings.Asked!);

    private static IPayloadCodec<TMessage> CodecOf<TMessage>(GroupOptions options)
    {
        CodecOptions.Check(options, typeof(GroupOptions<>), typeof(TMessage));
        return (options as GroupOptions<TMessage>)?.Codec ?? QuickSilverNode.CodecOf<TMessage>();
    }
}
