using System.Globalization;

namespace ChurnNode.Soak;

// What those that stay and those that come and go share in a soak.
internal static class SoakTopics
{
    public const string Prefix = "soak/lives/";
    public const string State = "soak/state";
    public const string Request = "soak/request";
    public const int MessagesOfLife = 5;
    // Names come again, as those of a deployment do.
    private const int Names = 100;
    private const int Keys = 200;

    public static string Steady(int stayer) => string.Create(CultureInfo.InvariantCulture, $"soak/steady/{stayer}");

    public static string OfLife(long life) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{life % Names}");

    public static string Key(long life) => string.Create(CultureInfo.InvariantCulture, $"key {life % Keys}");
}
