using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tools.Replicas;

// Opens the group of a tool. The kind of the tool and the version of its operations are in the contract of the topic, so members of one
// group understand each other.
internal static class ToolOpening
{
    /// <summary>The schema of tools whose operations have nothing of the application.</summary>
    public static PayloadSchema NoPayload { get; } = new("bytes", PayloadSchema.BytesKind, []);

    public static async Task OpenAsync(
        QuickSilverNode node, GroupTool tool, string kind, PayloadSchema schema, CancellationToken cancellationToken)
    {
        var options = new GroupOptions<ReadOnlyMemory<byte>> { Codec = new OperationCodec(schema) };
        string parameters = $"{GroupNode.StateParameters} tool={kind} version=1";
        tool.Begin(await GroupNode.OpenStatefulAsync(node, tool.Name, tool.Replica, options, parameters, cancellationToken)
            .ConfigureAwait(node.ResumesInContext));
    }
}
