using Microsoft.Extensions.Logging;

namespace QuickSilver.Composition;

// The only place that puts the machine's parts together.
internal static class NodeComposition
{
    public static INodeParts ForMachine(QuickSilverOptions options, ILoggerFactory logs) =>
        throw new PlatformNotSupportedException($"This build has no transport for {options.Interface}.");
}
