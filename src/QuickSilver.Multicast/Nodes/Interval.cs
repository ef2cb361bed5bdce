namespace QuickSilver.Multicast.Nodes;

// Divides items into parts whose sizes differ by at most one: part i of n begins at i * of / n.
internal static class Interval
{
    /// <summary>The number of parts of at most so many items.</summary>
    public static int Parts(int of, int most) => (of + most - 1) / most;

    public static int Start(int part, int of, int parts) => (int)((long)part * of / parts);

    public static int PartOf(int item, int of, int parts) => (int)((((long)item + 1) * parts - 1) / of);
}
