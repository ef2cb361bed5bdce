using System.Globalization;

namespace QuickSilver.Campaign.Contenders.Testbeds;

// Namespaces behind a switch that harms: the command `lab` of a folder, as in `lab up 4 loss=1`, `lab run 2 CMD`, `lab down`.
internal sealed class Lab(DirectoryInfo folder, string harm) : ITestbed
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    // It ends by itself, should this program not live to end it.
    private static readonly TimeSpan Life = TimeSpan.FromMinutes(15);

    // A lab of its own beside others; a name must not end with a digit.
    private static readonly (string, string)[] Name = [("LAB", $"campaign-{Environment.ProcessId}-")];

    private readonly string _lab = Path.Combine(folder.FullName, "lab");

    public string Description(int receivers) => $"lab up {receivers + 1} {harm}; ";

    public string? Up(int receivers)
    {
        string life = Life.TotalSeconds.ToString(CultureInfo.InvariantCulture);
        return Command("up", $"{receivers + 1}", "--max-seconds", life, harm);
    }

    public void Down() => Command("down");

    public string Address(int node) => string.Create(CultureInfo.InvariantCulture, $"10.88.0.{node}");

    public Shell Start(int node, IEnumerable<string> command) => new(_lab, ["run", $"{node}", .. command], Name);

    // The switch lives on with what it inherited, so its output must not be waited for.
    private string? Command(params string[] arguments)
    {
        using var shell = new Shell("bash", ["-c", $"\"$0\" \"$@\" >/dev/null 2>&1 </dev/null", _lab, .. arguments], Name);
        var ended = shell.Wait(Limit);
        return ended.Code == 0 ? null : $"lab {arguments[0]}: {ended.Reason}";
    }
}
