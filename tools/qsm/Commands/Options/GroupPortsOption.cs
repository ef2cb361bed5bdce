using System.CommandLine;
using System.Globalization;
using System.Net;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Options;

// The range of ports for groups, which the service decides.
internal static class GroupPortsOption
{
    public static Option<string?> Create() => new("--group-ports")
    {
        Description = "The UDP ports for the multicast groups of regions. Ephemeral ports of this system are skipped.",
        HelpName = "FIRST-LAST",
    };

    public static void Read(string? text, QuickSilverOptions options)
    {
        if (text is null)
        {
            return;
        }

        if (text.Split('-') is not [var first, var last]
            || !int.TryParse(first, NumberStyles.None, CultureInfo.InvariantCulture, out int from)
            || !int.TryParse(last, NumberStyles.None, CultureInfo.InvariantCulture, out int to)
            || from < OptionRules.LeastGroupPort
            || to < from
            || to > IPEndPoint.MaxPort)
        {
            throw new ToolException(
                ExitCode.Usage,
                $"--group-ports: '{text}' is not a range of ports from {OptionRules.LeastGroupPort} to {IPEndPoint.MaxPort}, the lower one "
                + "first, such as 10000-32767.");
        }

        options.Membership.Hosted.FirstGroupPort = from;
        options.Membership.Hosted.LastGroupPort = to;
    }
}
