using System.Globalization;

namespace QuickSilver.Campaign.Contenders.Testbeds;

// The namespaces n1, n2, … on one bridge, at an MTU, and where it is wanted the sender's link shaped to a rate.
internal sealed class Bridge(Namespaces namespaces, int mtu = Namespaces.UsualMtu, string? shape = null) : ITestbed
{
    /// <summary>For tc: the sender's link at 1 Gbit/s.</summary>
    public const string OneGigabit = "tbf rate 1gbit burst 256kb latency 20ms";

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    public string Description(int receivers)
    {
        string link = mtu == Namespaces.UsualMtu ? "" : $"netns.sh up {receivers + 1} mtu={mtu}; ";
        return shape is null ? link : $"{link}ip netns exec n1 tc qdisc replace dev e0 root {shape}; ";
    }

    public string? Up(int receivers) =>
        namespaces.Up(receivers, mtu) ?? (shape is null ? null : Shape("replace", shape.Split(' ')));

    public void Down()
    {
        if (shape is not null)
        {
            Shape("del");
        }
    }

    public string Address(int node) => string.Create(CultureInfo.InvariantCulture, $"10.77.0.{node}");

    public Shell Start(int node, IEnumerable<string> command) => new("ip", ["netns", "exec", $"n{node}", .. command]);

    private string? Shape(string action, params IEnumerable<string> how)
    {
        using var shell = Start(1, ["tc", "qdisc", action, "dev", "e0", "root", .. how]);
        var ended = shell.Wait(Limit);
        return ended.Code == 0 ? null : $"tc: {ended.Reason}";
    }
}
