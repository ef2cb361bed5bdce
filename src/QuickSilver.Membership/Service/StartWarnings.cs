using Microsoft.Extensions.Logging;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Membership.Diagnostics;

namespace QuickSilver.Membership.Service;

// What a service logs at its start because it will lack it later.
internal static class StartWarnings
{
    public static void Log(MembershipServiceOptions options, DescriptorRoom? descriptors, ILogger logger)
    {
        if (options.GroupPorts.IsAllEphemeral)
        {
            logger.GroupPortsEphemeral(options.GroupPorts);
        }

        if (descriptors is { } room && room.Limit - room.Reserve < options.Limits.MaxSessions)
        {
            logger.FewDescriptors(room.Limit, room.Reserve, options.Limits.MaxSessions);
        }
    }
}
