namespace ChurnNode;

internal static class Topics
{
    public static string Data(int topic) => $"churn/{topic}";
}
