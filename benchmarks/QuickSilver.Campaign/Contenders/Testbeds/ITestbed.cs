namespace QuickSilver.Campaign.Contenders.Testbeds;

/// <summary>Nodes on a network: the sender on the first, receivers on those after it.</summary>
internal interface ITestbed
{
    /// <summary>The commands that make it, for the page; empty where it is the usual one.</summary>
    string Description(int receivers);

    /// <summary>Makes it; null, or what went wrong.</summary>
    string? Up(int receivers);

    /// <summary>Leaves it as others expect it. Also after an Up that went wrong.</summary>
    void Down();

    string Address(int node);

    Shell Start(int node, IEnumerable<string> command);
}
