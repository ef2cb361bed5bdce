namespace ChurnNode;

internal static class Topics
{
    public static string Data(int topic) => $"churn/{topic}";

    /// <summary>The steady stream of a member that stays.</summary>
    public static string Steady(int stayer) => $"steady/{stayer}";

    /// <summary>To which the nodes that join and leave publish.</summary>
    public const string Roaming = "roaming";
}
