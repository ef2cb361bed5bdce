namespace QuickSilver.Groups;

// A handler that ignores what it cannot apply, and says so to the meter of its node.
internal interface ICountedHandler
{
    /// <summary>Called for each message that was ignored. Set before the first event. From any thread.</summary>
    Action? OnIgnored { set; }
}
