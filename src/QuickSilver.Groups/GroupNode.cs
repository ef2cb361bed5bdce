using QuickSilver.Endpoints;
using QuickSilver.Groups.Protocol;
using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Serialization;

namespace QuickSilver.Groups;

/// <summary>Opens groups on a node.</summary>
public static class GroupNode
{
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
    /// <exception cref="NotSupportedException">The type has no codec, and the options have none.</exception>
    /// <exception cref="InvalidOperationException">This node is in the group already.</exception>
    /// <exception cref="ContractMismatchException">The topic of that name is open elsewhere and is no group of this type.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the call.</exception>
    public static async Task<IGroup<TMessage>> OpenGroupAsync<TMessage>(
        this QuickSilverNode node, string name, GroupOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        options ??= new GroupOptions();
        GroupOptions.CheckOrder(options.Order);
        var order = options.Order;
        var messages = CodecOf<TMessage>(options);
        var settings = new GroupSettings();
        var topic = new TopicOptions
        {
            ReaderCapacity = options.ReaderCapacity,
            SlowReaderLimit = options.SlowReaderLimit,
            Protocol = new ProtocolChoice(GroupTopics.Factory) { Parameters = ContractParameters.Of("views=1"), Settings = settings },
        };
        var codec = new GroupCodec<TMessage>(name, messages);
        var endpoint = await node.OpenEndpointAsync(name, TopicAccess.PublishAndSubscribe, topic, codec, cancellationToken)
            .ConfigureAwait(node.ResumesInContext);
        if (!settings.IsUsed)
        {
            await endpoint.DisposeAsync().ConfigureAwait(node.ResumesInContext);
            throw new InvalidOperationException($"This node is in the group \"{name}\" already. Use that group.");
        }

        return new Group<TMessage>(endpoint, order);
    }

    private static IPayloadCodec<TMessage> CodecOf<TMessage>(GroupOptions options)
    {
        if (options is GroupOptions<TMessage> { Codec: { } codec })
        {
            return codec;
        }

        var type = options.GetType();
        if (type.IsGenericType && type != typeof(GroupOptions<TMessage>))
        {
            throw new ArgumentException(
                $"The options are GroupOptions<{type.GetGenericArguments()[0]}>, and GroupOptions<{typeof(TMessage)}> are required. Use "
                + "the type of the messages, or GroupOptions, which has no codec.",
                nameof(options));
        }

        return QuickSilverNode.CodecOf<TMessage>();
    }
}
