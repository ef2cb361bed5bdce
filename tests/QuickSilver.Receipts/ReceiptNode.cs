using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Receipts.Protocol;

namespace QuickSilver.Receipts;

/// <summary>Opens topics with receipts on a node.</summary>
public static class ReceiptNode
{
    /// <summary>The largest value of <see cref="ReceiptOptions.Every"/>.</summary>
    public const int MaxEvery = 1_000;

    /// <summary>
    /// Opens a topic whose publishers learn which node has taken which message. All its endpoints have the same
    /// <see cref="ReceiptOptions.Every"/>.
    /// </summary>
    /// <typeparam name="T">The type of the payload.</typeparam>
    /// <param name="node">The node.</param>
    /// <param name="name">The name of the topic.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentOutOfRangeException"><see cref="ReceiptOptions.Every"/> is out of range.</exception>
    /// <exception cref="QuickSilverOptionsException">
    /// <see cref="ReceiptOptions.IsKept"/> is set, and the node has no <see cref="QuickSilverOptions.StorageDirectory"/>.
    /// </exception>
    /// <exception cref="ContractMismatchException">The topic is open elsewhere with a contract that does not match.</exception>
    public static Task<ITopic<T>> OpenReceiptTopicAsync<T>(
        this QuickSilverNode node, string name, ReceiptOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(node);
        options ??= new ReceiptOptions();
        ArgumentOutOfRangeException.ThrowIfLessThan(options.Every, 1, nameof(options));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(options.Every, MaxEvery, nameof(options));
        if (options.IsKept && !node.HasStorage)
        {
            throw new QuickSilverOptionsException([
                $"The option {nameof(QuickSilverOptions.StorageDirectory)} is null. Topics with {nameof(ReceiptOptions.IsKept)} keep their "
                + "receipts on disk. Name a directory.",
            ]);
        }

        var choice = new ProtocolChoice(ReceiptTopics.Factory)
        {
            Parameters = ContractParameters.Of($"every={options.Every}"),
            Settings = new ReceiptSettings(options.OnReceipt, options.IsKept),
        };
        return node.OpenTopicAsync<T>(name, new TopicOptions { Protocol = choice }, cancellationToken);
    }
}

/// <summary>The options of a topic with receipts.</summary>
public sealed record ReceiptOptions
{
    /// <summary>After how many messages a subscriber sends a receipt: 1 to 1,000; default 1. All endpoints must agree.</summary>
    public int Every { get; init; } = 1;

    /// <summary>
    /// Called on the core thread with each receipt of the topic's messages of this node; it must return at once. The first endpoint of the
    /// topic on the node decides.
    /// </summary>
    public Action<Receipt>? OnReceipt { get; init; }

    /// <summary>
    /// Whether the receipts of this node's messages are kept on its disk. <see cref="OnReceipt"/> is then called when a receipt is on disk,
    /// and also with the newest ones of earlier lives of the node. 1 MiB of receipts is kept; then the log begins again. Default false. The
    /// first endpoint of the topic on the node decides.
    /// </summary>
    public bool IsKept { get; init; }
}

/// <summary>One node has taken a publisher's messages of a topic.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Publisher">The publisher: this node, or an earlier life of it. Each life numbers its messages from 1.</param>
/// <param name="Node">The node that has taken them.</param>
/// <param name="Through">The number of the last message that it has taken.</param>
public readonly record struct Receipt(string Topic, NodeId Publisher, NodeId Node, long Through);
