using System.Globalization;

namespace QuickSilver.Campaign.Contenders.Testbeds;

// The namespaces n1, n2, … as the peers' netns.sh makes them. Without a folder of peers they are the user's, and left alone.
internal sealed class Namespaces(DirectoryInfo? peers)
{
    public const int UsualMtu = 1500;
    private const int Some = 3;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    /// <summary>Links one sender and so many receivers; null, or what went wrong.</summary>
    public string? Up(int receivers, int mtu)
    {
        if (peers is null)
        {
            return mtu == UsualMtu ? null : "only netns.sh changes the MTU";
        }

        string nodes = (receivers + 1).ToString(CultureInfo.InvariantCulture);
        using var shell = new Shell(Path.Combine(peers.FullName, "netns.sh"), ["up", nodes, $"mtu={mtu}"]);
        var ended = shell.Wait(Limit);
        return ended.Code == 0 ? null : $"netns.sh: {ended.Reason}";
    }

    public bool CanHave(int mtu)
    {
        bool can = Up(Some, mtu) is null;
        Up(Some, UsualMtu);
        return can;
    }
}
