using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Ordering.Routes;

// Whether packet memory has room for a message of a topic. The message counts in all its streams together, because each stream may need
// blocks of its own.
internal static class RouteMemory
{
    public static bool Has(RegionSender[] routes, int payloadBytes, ISendingNode node)
    {
        if (routes.Length == 0)
        {
            return true;
        }

        long free = routes[0].Packer.FreeBlocks;
        if (free > (long)routes.Length * routes[0].Packer.MostBlocks(payloadBytes) || free > BlocksFor(routes, payloadBytes))
        {
            return true;
        }

        node.Sent.RestSettled();
        if (routes[0].Packer.FreeBlocks > BlocksFor(routes, payloadBytes))
        {
            return true;
        }

        node.LookForMemoryAgain();
        return false;
    }

    private static long BlocksFor(RegionSender[] routes, int payloadBytes)
    {
        long blocks = 0;
        foreach (var route in routes)
        {
            blocks += route.Packer.BlocksFor(payloadBytes);
        }

        return blocks;
    }
}
