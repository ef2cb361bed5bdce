using System.Runtime.InteropServices;

namespace QuickSilver.Packages.Tests.Infrastructure;

// A program that is published for this machine, compiled ahead of time or trimmed.
internal static class PublishedProgram
{
    /// <summary>
    /// Publishes the project in the folder, without a warning, into its folder <c>out</c>. Skips the test if the machine lacks what that
    /// needs.
    /// </summary>
    /// <param name="folder">The folder.</param>
    /// <param name="how">The property: <c>PublishAot</c> or <c>PublishTrimmed</c>.</param>
    public static void Publish(string folder, string how)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "The compiler's own linker is known on Linux only.");
        string[] publish =
        [
            "publish", "-c", "Release", "-r", RuntimeInformation.RuntimeIdentifier, "-o", "out", $"-p:{how}=true", "--self-contained",
            "-p:TrimmerSingleWarn=false", "-p:InvariantGlobalization=true", "-warnaserror",
        ];
        var (code, written) = DotnetCommand.Try(folder, "dotnet", publish);
        string[] lacking = ["NU1101", "NU1102", "NU1301", "Platform linker"];
        Assert.SkipWhen(code != 0 && lacking.Any(written.Contains), $"This machine lacks what {how} needs: {written}");
        Assert.True(code == 0, written);
    }
}
