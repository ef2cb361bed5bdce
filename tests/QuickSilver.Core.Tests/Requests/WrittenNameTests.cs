using System.Reflection;
using System.Reflection.Emit;
using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Tests.Requests;

public sealed class WrittenNameTests
{
    [Theory]
    [InlineData("Handle", "Program.Handle")]
    [InlineData("<Run>b__0", "Program.Run")]
    [InlineData("<Run>g__Local|0_1", "Program.Run")]
    [InlineData("<Main>$", "Program.Main")]
    [InlineData("<<Main>$>b__0_0", "Program.Main")]
    [InlineData("<<Main>$>g__Local|0_0", "Program.Main")]
    [InlineData("<<Outer>b__0>b__1", "Program.Outer")]
    public void A_method_has_the_name_of_the_one_in_which_it_was_written(string compiled, string written)
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("names"), AssemblyBuilderAccess.Run);
        var module = assembly.DefineDynamicModule("names");
        var type = module.DefineType("Program");
        type.DefineMethod(compiled, MethodAttributes.Public | MethodAttributes.Static).GetILGenerator().Emit(OpCodes.Ret);
        Assert.Equal(written, WrittenName.Of(type.CreateType().GetMethod(compiled)!));
    }
}
