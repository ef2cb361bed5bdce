namespace QuickSilver.Packages.Tests.Infrastructure;

// What `dotnet new` and `dotnet add package` write.
internal static class NewcomersProject
{
    public enum Kind
    {
        Program,
        Library,
        Web,
        Test,
    }

    // `dotnet test` as the SDK has it without a setting. A rule of the test framework wants its token in every call; the pages show calls
    // without it.
    private const string OfTests =
        "<IsTestingPlatformApplication>false</IsTestingPlatformApplication><NoWarn>$(NoWarn);xUnit1051</NoWarn>";

    public static void Write(string folder, string name, Kind kind, params (string Id, string Version)[] packages) =>
        Write(folder, name, kind, packages, references: []);

    /// <param name="folder">The folder of the project.</param>
    /// <param name="name">The name of the project.</param>
    /// <param name="kind">What it is.</param>
    /// <param name="packages">What it adds. A project of tests has the packages of the test framework too.</param>
    /// <param name="references">The projects that it refers to, from its folder.</param>
    public static void Write(string folder, string name, Kind kind, (string Id, string Version)[] packages, string[] references)
    {
        (string Id, string Version)[] tested = kind == Kind.Test
            ?
            [
                ("Microsoft.NET.Test.Sdk", Feed.Known("TestSdk")),
                ("xunit.v3", Feed.Known("Xunit")),
                ("xunit.runner.visualstudio", Feed.Known("XunitRunner")),
            ]
            : [];
        string output = kind is Kind.Program or Kind.Test ? "<OutputType>Exe</OutputType>" : "";
        var added = packages.Concat(tested).Select(one => $"""    <PackageReference Include="{one.Id}" Version="{one.Version}" />""");
        File.WriteAllText(Path.Combine(folder, name + ".csproj"), $"""
            <Project Sdk="Microsoft.NET.Sdk{(kind == Kind.Web ? ".Web" : "")}">
              <PropertyGroup>
                <TargetFramework>net10.0</TargetFramework>{output}{(kind == Kind.Test ? OfTests : "")}
                <ImplicitUsings>enable</ImplicitUsings>
                <Nullable>enable</Nullable>
              </PropertyGroup>
              <ItemGroup>
            {string.Join('\n', added)}
            {string.Join('\n', references.Select(static one => $"""    <ProjectReference Include="{one}" />"""))}
              </ItemGroup>
            </Project>
            """);
    }
}
