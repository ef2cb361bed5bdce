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

    /// <summary>What must exist once in a cluster needs a service that exists once.</summary>
    /// <exception cref="NotSupportedException">Nodes host the service, and the options do not allow that.</exception>
    public static void CheckService(QuickSilverNode node, string what, string consequence, string options, bool allowsHosted)
    {
        if (node.IsServiceHosted && !allowsHosted)
        {
            throw new NotSupportedException(
                $"{what} needs a standalone membership service. Here nodes host the service, so two parts of a divided network have one "
                + $"each, and {consequence}. Run qsm gms and name it in Membership:Servers on all nodes. On one machine, set "
                + $"{options}.{nameof(LockOptions.AllowHostedService)}.");
        }
    }
}
