using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Tool.Doctor.Checks;

// Limit: the one in effect, which .NET has raised to the hard one; null: none, or not known. Regions: of the node with the most, as far as
// nodes have reported. Nodes: of the cluster, each with a connection to the service.
internal sealed record DescriptorFacts(long? Limit, long Regions, int Nodes);

// Whether a process may open the files and sockets that a node needs.
internal static class DescriptorCheck
{
    public const string Name = "descriptors";

    // The runtime, its libraries and a web server's listeners.
    private const int OfProcess = 256;
    // One to hear its group, and another while the group changes.
    private const int OfRegion = 2;
    // What a program gets as a rule: below it, some of its own files and connections may be missing.
    private const int Usual = 1024;

    public static Finding Of(DescriptorFacts facts)
    {
        if (facts.Limit is not { } limit)
        {
            return Finding.NotChecked(Name, "The system reports no limit.");
        }

        long need = OfProcess + (OfRegion * facts.Regions) + facts.Nodes;
        string regions = Counted.Of(facts.Regions, "region");
        string text = $"A process may open {limit} files and sockets. A node with {regions} needs up to {need}";
        return limit < need ? new Finding(Name, FindingStatus.Problem, $"{text}.", Raise(need))
            : limit < Usual ? new Finding(Name, FindingStatus.Warning, $"{text}, without the program's own.", Raise(need))
            : Finding.Ok(Name, $"{text}.");
    }

    private static Remedy Raise(long need)
    {
        long limit = Math.Max(65_536, need * 2);
        return new Remedy($"ulimit -Hn {limit} && ulimit -Sn {limit}", "the shell that starts the node, as root (systemd: LimitNOFILE)");
    }
}
