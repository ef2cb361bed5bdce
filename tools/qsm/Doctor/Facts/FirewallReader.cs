using System.ComponentModel;
using System.Diagnostics;
using QuickSilver.Tool.Doctor.Checks.Network;

namespace QuickSilver.Tool.Doctor.Facts;

// The chains of this host's firewall, so that a rule can be named which fits it. Empty without nftables, or without the right to look.
internal static class FirewallReader
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(3);

    public static IReadOnlyList<FirewallChain> Read()
    {
        try
        {
            using var nft = Process.Start(new ProcessStartInfo("nft", ["list", "chains"])
            {
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            })!;
            var output = nft.StandardOutput.ReadToEndAsync();
            if (nft.WaitForExit(Limit))
            {
                return Parse(output.Result);
            }

            nft.Kill();
        }
        catch (Win32Exception)
        {
            // It is not installed.
        }

        return [];
    }

    // table inet filter {
    //     chain input {
    //         type filter hook input priority filter; policy accept;
    //     }
    // }
    internal static IReadOnlyList<FirewallChain> Parse(string text)
    {
        var chains = new List<FirewallChain>();
        string[] table = [];
        string chain = "";
        foreach (string line in text.Split('\n', StringSplitOptions.TrimEntries))
        {
            string[] words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            switch (words)
            {
                case ["table", var family, var name, ..]:
                    table = [family, name];
                    break;
                case ["chain", var name, ..]:
                    chain = name;
                    break;
                case ["type", "filter", "hook", ("input" or "output") and var hook, ..] when table is ["inet" or "ip" or "ip6", _]:
                    chains.Add(new FirewallChain(table[0], table[1], chain, hook == "input"));
                    break;
            }
        }

        return chains;
    }
}
