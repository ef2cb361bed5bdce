using System.Reflection;

namespace QuickSilver.Core.Environment;

// What people call the process that runs a node, and where it runs. It is for logs and tools: no protocol decides by it.
internal sealed record ProcessLabel
{
    public static readonly ProcessLabel None = new();

    /// <summary>The name of the program, such as "Orders".</summary>
    public string Application { get; init; } = "";

    /// <summary>The name of the machine; empty: it has none, or another machine hides behind the application's name.</summary>
    public string Machine { get; init; } = "";

    /// <summary>The name of the process as the system lists it, such as "dotnet".</summary>
    public string Process { get; init; } = "";

    /// <summary>0: unknown.</summary>
    public int ProcessId { get; init; }

    /// <summary>The version of this library.</summary>
    public string Version { get; init; } = "";

    /// <summary>That of this process. A program that the runtime's host runs has the name of its assembly.</summary>
    public static ProcessLabel OfThisProcess { get; } = Read();

    private static ProcessLabel Read()
    {
        string process = Path.GetFileNameWithoutExtension(System.Environment.ProcessPath) ?? "";
        return new ProcessLabel
        {
            Application = Assembly.GetEntryAssembly()?.GetName().Name ?? process,
            Machine = System.Environment.MachineName,
            Process = process,
            ProcessId = System.Environment.ProcessId,
            Version = VersionOfLibrary(),
        };
    }

    // Without the commit, which is long.
    private static string VersionOfLibrary()
    {
        string? version = typeof(ProcessLabel).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion;
        return version?.Split('+')[0] ?? "";
    }
}
