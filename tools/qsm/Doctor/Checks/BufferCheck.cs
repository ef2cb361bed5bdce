using System.Globalization;

namespace QuickSilver.Tool.Doctor.Checks;

// Asked: what a node asks for. Granted: what the system gave this process, in the same measure. Limit: what the system gives to a process
// without privileges; null: it does not report it.
internal sealed record BufferFacts(string Setting, long Asked, long Granted, long? Limit);

// Whether the kernel grants the socket buffers that a node asks for.
internal static class BufferCheck
{
    public const string Receive = "receive buffer";
    public const string Send = "send buffer";

    /// <param name="name">Of the check.</param>
    /// <param name="facts">What was asked and given.</param>
    /// <param name="consequence">Of a smaller one. A sentence.</param>
    public static Finding Of(string name, BufferFacts facts, string consequence)
    {
        long given = Math.Min(facts.Granted, facts.Limit ?? facts.Granted);
        if (given >= facts.Asked)
        {
            return Finding.Ok(name, $"A node asks for {Size(facts.Asked)}, and the system grants it.");
        }

        // A process with CAP_NET_ADMIN is given more than the limit; the node may have to do without.
        string privilege = facts.Granted >= facts.Asked
            ? " to a node without the privilege CAP_NET_ADMIN, which this process has"
            : "";
        return new Finding(
            name,
            FindingStatus.Warning,
            $"A node asks for {Size(facts.Asked)}, but the system grants {Size(given)}{privilege}. {consequence}",
            new Remedy($"sysctl -w {facts.Setting}={facts.Asked}"));
    }

    internal static string Size(long bytes) => bytes switch
    {
        >= 1L << 30 => string.Create(CultureInfo.InvariantCulture, $"{bytes / (double)(1 << 30):0.#} GiB"),
        >= 1 << 20 => string.Create(CultureInfo.InvariantCulture, $"{bytes / (double)(1 << 20):0.#} MiB"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{bytes / 1024.0:0.#} KiB"),
    };
}
